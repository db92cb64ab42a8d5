"""Any op of the detail report, by name or id, parts a database into iterations."""

import re

from harness import Skipped, check
from op_database import OpDatabase

UNKNOWN = "{}x"  # of an op's name: one letter more

# (what it is, whether an op is so, by which column it is asked for). Each takes the op with most GPU time that is so.
KINDS = (
    ("a forward op", lambda op: op["direction"] == "fprop" and op["op_type"].startswith("aten::"), "op_name"),
    ("a forward op", lambda op: op["direction"] == "fprop" and op["op_type"].startswith("aten::"), "op_id"),
    ("a backward op", lambda op: op["direction"] == "bprop" and op["op_type"].startswith("aten::"), "op_id"),
    ("a node of autograd", lambda op: op["direction"] == "bprop" and "Backward" in op["op_type"], "op_id"),
    ("a repeated op", lambda op: re.search(r"\(\d+\)", op["op_name"]), "op_name"),
    ("a module", lambda op: op["op_type"] == "module", "op_name"),
    ("a phase", lambda op: op["op_name"] in ("/forward", "/backward"), "op_id"),
    ("the optimizer's step", lambda op: op["op_type"] == "Optimizer.step", "op_name"),
    ("what is outside of ops", lambda op: op["op_name"].startswith("unassociated_"), "op_name"),
    ("what is outside of ops", lambda op: op["op_name"].startswith("unassociated_"), "op_id"),
    ("an op without kernels", lambda op: op["gpu_total_ns"] == 0 and op["direction"] == "", "op_id"),
    ("an op called once", lambda op: op["calls"] == 1, "op_id"),
)


def run(bench, part, database_of):
    """`database_of()`: the database that is asked, or Skipped."""
    try:
        ops = database_of().ops()
    except Skipped as reason:
        bench.board.skip(part, "key nodes", reason)
        return
    asker = Asker(bench, database_of(), ops)
    for kind, is_so, column in KINDS:
        with bench.board.case(part, f"key node: {kind}, by {'id' if column == 'op_id' else 'name'}") as row:
            row.detail = asker.judge(kind, is_so, column)
    with bench.board.case(part, "key node: a name that is none") as row:
        row.detail = asker.refused()


class Asker:
    """Folds a database again, by other key nodes."""

    def __init__(self, bench, database, ops):
        self._bench = bench
        self._database = database
        self._ops = ops

    def judge(self, kind, is_so, column):
        op = next(filter(is_so, self._ops), None)
        if op is None:
            raise Skipped(f"there is no op of this kind: {kind}")
        asked = op[column]
        self._fold(asked).require_success()
        summary = self._database.summary()
        expected = expected_instances(self._ops, asked)
        iterations = self._database.rows("SELECT count(*) AS n FROM iterations")[0]["n"]
        words = (
            f"{asked}: found {summary['key_nodes_found']} times, its instances {expected}; "
            f"{summary['total_iterations']} iterations in the summary, {iterations} listed"
        )
        check(summary["key_node"] == asked and summary["key_node_source"] == "asked", f"{words}; key node {summary['key_node']}")
        check(summary["key_nodes_found"] == expected and summary["total_iterations"] == iterations == expected + 1, words)
        check(same_ops(self._ops, self._database.ops()), f"{words}; names or ids of ops are others than before")
        return words

    def refused(self):
        newest = self._database.summary()["aggregation"]
        near = min((op["op_name"] for op in self._ops), key=len)
        asked = UNKNOWN.format(near)
        done = self._fold(asked)
        words = f"{asked}: exit code {done.code}: {' / '.join(done.stderr.strip().splitlines()[:2])}"
        check(done.code == 2 and near in done.stderr.replace(asked, ""), words)
        check(OpDatabase(self._database.path).summary()["aggregation"] == newest, f"{words}; the database has changed")
        return words

    def _fold(self, key_node):
        return self._bench.dlkprof.run(
            "key_node",
            [
                f"--database={self._database.path}",
                f"--key_node={key_node}",
                "--reports=summary,iteration",
                "--formats=csv",
                f"--output_path={self._database.path.parent}",
                "--base_name=key_node",
                "--force",
            ],
        )


def expected_instances(ops, asked):
    """An id means one op; a name all that are called so, but not their backward passes."""
    by_id = [op["calls"] for op in ops if op["op_id"] == asked]
    return sum(by_id or [op["calls"] for op in ops if op["op_name"] == asked and op["direction"] != "bprop"])


def same_ops(before, after):
    def called(ops):
        return sorted((op["op_id"], op["op_name"], op["direction"], op["op_type"], op["calls"]) for op in ops)

    return called(before) == called(after)
