"""The part `timeline`: what is wrong in a database, a trace or a fold must not pass."""

import json
import unittest
from unittest import mock

import agreement
import key_nodes
import part_python
import part_timeline
import torch_trace
from agreement import Seen
from harness import FAIL, PASS, SKIP, CheckFailed, Skipped
from made_up_database import FORWARD, MadeUpDatabase
from op_database import OpDatabase
from stand_ins import GOOD_DLKPROF, InFolder


class DatabaseTest(InFolder):
    def setUp(self):
        super().setUp()
        self.made_up = MadeUpDatabase(self.folder / "run_dldb.sqlite")
        self.database = OpDatabase(self.made_up.path)

    def test_no_database(self):
        with self.assertRaisesRegex(CheckFailed, "there is no other.sqlite"):
            OpDatabase(self.folder / "other.sqlite")

    def test_works_know_the_ranges_around_them(self):
        works = self.database.works()
        self.assertEqual(len(works), 61)
        self.assertEqual(
            [message.split(",")[0] for message in works[3].messages],
            ["aten::mm", "autograd::engine::evaluate_function: MmBackward0"],
        )
        self.assertEqual(works[0].messages, ())

    def test_training_steps(self):
        self.assertIn("found 20 times", part_timeline.training_steps(self.database, 128))
        wrong = (
            "UPDATE summary SET key_nodes_found = 19",
            "UPDATE summary SET key_node_source = 'repetition'",
            "UPDATE summary SET total_iterations = 20",
            "UPDATE kernels SET iteration = 0 WHERE iteration = 3",
            "UPDATE fact SET value = '4'",
        )
        for number, statement in enumerate(wrong):
            made_up = MadeUpDatabase(self.folder / f"{number}.sqlite")
            made_up.change(statement)
            with self.assertRaises(CheckFailed, msg=statement):
                part_timeline.training_steps(OpDatabase(made_up.path), 128)

    def test_time_in_ops(self):
        self.assertIn(
            "99.972% of 0.036 ms; outside: unassociated_x: 1 taking 0.0 us", part_timeline.time_in_ops(self.database.works())
        )
        self.made_up.change("UPDATE kernels SET op_name = 'unassociated_mm' WHERE iteration = 1")
        with self.assertRaisesRegex(CheckFailed, "unassociated_mm: 3 taking 1.8 us"):
            part_timeline.time_in_ops(self.database.works())
        with self.assertRaisesRegex(CheckFailed, "none timed"):
            part_timeline.time_in_ops([])

    def test_backward_kernels_have_forward_ops(self):
        words = part_timeline.backward_links(self.database)
        self.assertIn("20 of 40 linked, 98.90% of 0.018 ms", words)
        self.assertIn("no forward op exists for aten::fill_ in /phase: backward/aten::fill_: 20 taking 0.2 us", words)

    def test_a_backward_kernel_without_link_fails(self):
        self.made_up.change("UPDATE kernels SET direction = '' WHERE iteration = 20 AND direction = 'bprop'")
        with self.assertRaisesRegex(CheckFailed, f"not linked: aten::mm in {FORWARD}: 1 taking 0.9 us"):
            part_timeline.backward_links(self.database)

    def test_a_link_to_an_op_that_never_ran_forward_fails(self):
        self.made_up.change("UPDATE detail SET direction = '' WHERE op_id = 'mm_1'")
        with self.assertRaisesRegex(CheckFailed, "0 of 40 linked"):
            part_timeline.backward_links(self.database)

    def test_unmarked_steps(self):
        with mock.patch.object(part_timeline, "profile", return_value=self.database):
            with self.assertRaisesRegex(CheckFailed, "20 repetitions, by framework"):
                part_timeline.unmarked_steps(None)
            self.made_up.change("UPDATE summary SET key_node_source = 'repetition'")
            self.assertIn("20 repetitions", part_timeline.unmarked_steps(None))


FOLD = """
import re, sqlite3, sys
words = dict(re.match("--([a-z_]+)=?(.*)", word).groups() for word in sys.argv[1:])
asked = words["key_node"]
connection = sqlite3.connect(words["database"])
query = "SELECT calls FROM detail WHERE op_id = ?1 OR op_name = ?1 AND direction != 'bprop'"
calls = connection.execute(query, (asked,)).fetchone()
if calls is None:
    sys.exit(print("dlkprof: no op is called", asked, "\\n  Did you mean {near}?", file=sys.stderr) or {code})
found = calls[0] + {extra}
with connection:
    connection.execute("UPDATE summary SET key_node = ?, key_node_source = 'asked', key_nodes_found = ?, total_iterations = ?",
                       (asked, found, found + 1))
    connection.execute("DELETE FROM iterations")
    connection.executemany("INSERT INTO iterations VALUES (?)", [(n,) for n in range(found + 1)])
"""


class KeyNodesTest(InFolder):
    def ask(self, near=FORWARD, code=2, extra=0):
        database = OpDatabase(MadeUpDatabase(self.folder / f"{near[1:4]}{code}{extra}.sqlite").path)
        key_nodes.run(self.bench(FOLD.format(near=near, code=code, extra=extra)), "timeline", lambda: database)
        outcomes = {row.case: row.status for row in self.board.rows}
        self.board.rows.clear()
        return outcomes

    def test_names_and_ids(self):
        outcomes = self.ask()
        self.assertEqual(outcomes["key node: a backward op, by id"], PASS)
        self.assertEqual(outcomes["key node: what is outside of ops, by name"], PASS)
        self.assertEqual(outcomes["key node: a repeated op, by name"], SKIP)
        self.assertEqual(outcomes["key node: a name that is none"], PASS)
        self.assertNotIn(FAIL, outcomes.values())

    def test_another_number_of_iterations_fails(self):
        self.assertEqual(self.ask(extra=1)["key node: a forward op, by name"], FAIL)

    def test_refusals(self):
        for wrong in (self.ask(near="unassociated_x"), self.ask(code=1)):
            self.assertEqual(wrong["key node: a name that is none"], FAIL)

    def test_skipped_without_a_database(self):
        def none():
            raise Skipped("not profiled")

        key_nodes.run(self.bench(GOOD_DLKPROF), "timeline", none)
        self.assertEqual([row.status for row in self.board.rows], [SKIP])


def event(category, name, start, duration, thread=1, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": duration, "args": arguments}


class TraceTest(InFolder):
    EVENTS = [
        {"ph": "M", "name": "process_name"},
        event("cpu_op", "AddmmBackward0", 50, 20, 2, **{"External id": 3}),
        event("cpu_op", "aten::linear", 10, 20, **{"External id": 1}),
        event("cpu_op", "aten::addmm", 12, 10, **{"External id": 2}),
        event("cuda_runtime", "cudaLaunchKernel", 15, 2, correlation=100),
        event("cuda_driver", "cuLaunchKernelEx", 25, 2, correlation=101),
        event("cuda_runtime", "cudaLaunchKernel", 60, 2, 2, correlation=102),
        event("cuda_runtime", "cudaMemcpyAsync", 90, 2, correlation=103),
        event("gpu_memcpy", "Memcpy HtoD", 95, 1.5, 0, correlation=103, **{"External id": 77}),
        event("kernel", "third", 70, 4, 0, correlation=102, **{"External id": 3}),
        event("kernel", "second", 40, 3, 0, correlation=101),
        event("kernel", "first", 30, 2.001, 0, correlation=100, **{"External id": 2}),
    ]

    def test_launches_in_order_with_their_ops(self):
        path = self.folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": self.EVENTS}))
        works = torch_trace.read_trace(path)
        self.assertEqual(
            [(work.kind, work.kernel, work.op, work.gpu_ns) for work in works],
            [
                ("kernel", "first", "aten::addmm", 2001),
                ("kernel", "second", "aten::linear", 3000),
                ("kernel", "third", "", 4000),
                ("copy", "Memcpy HtoD", "", 1500),
            ],
        )


class AgreementTest(unittest.TestCase):
    SEEN = [Seen("a", "aten::mm", 500), Seen("b", "aten::add", 300), Seen("a", "aten::mm", 200)]

    def test_same(self):
        words = agreement.compare(self.SEEN, [Seen(one.kernel, one.op, one.gpu_ns + 5) for one in self.SEEN])
        self.assertIn("in another op 0", words)
        self.assertIn("1.0150 of PyTorch's", words)

    def test_what_differs_fails(self):
        a, b, c = self.SEEN
        cases = {
            "in another op 1 \\(1: b in none, PyTorch aten::add": [a, Seen("b", "", 300), c],
            "differently often 1 \\(a: 1, PyTorch 2": [a, b],
            "without a partner in order 2": [a, c, b],
            "1.0300 of PyTorch's": [a, b, Seen("a", "aten::mm", 230)],
            "0 launches": [],
        }
        for words, ours in cases.items():
            with self.assertRaisesRegex(CheckFailed, words):
                agreement.compare(self.SEEN, ours)

    def test_names_and_ops_of_both(self):
        class Work:
            kind, kernel, gpu_ns, op = "kernel", "_Z2mmv", 5, "aten::mm"
            messages = ("AddmmBackward0, seq = 3", "aten::mm, op_id = 2", "aten::linear")

        self.assertEqual(agreement.seen_by_torch([Work], {"_Z2mmv": "mm(int, int)"}), [Seen("mm(int,int)", "aten::mm", 5)])
        self.assertEqual(agreement.seen_by_dlkprof([Work]), [Seen("_Z2mmv", "aten::mm", 5)])


class PythonTest(InFolder):
    def judge(self, text, code=0):
        return part_python.judge(self.commands.run("probe", ["sh", "-c", f"printf '{text}'; exit {code}"]))

    def test_lines_of_the_probe(self):
        words, figures = self.judge("PASS one\\nINFO 5 us\\nPASS two\\n")
        self.assertEqual((words, figures), ("2 expectations hold, the last: two", ["5 us"]))

    def test_what_is_no_success(self):
        for text, code in (("PASS one\\nFAIL two: 3\\n", 1), ("PASS one\\n", 1), ("", 0)):
            with self.assertRaises(CheckFailed):
                self.judge(text, code)

    def test_an_installation_without_python(self):
        with self.assertRaisesRegex(CheckFailed, "no share/dlkprof/python/inject"):
            part_python.probe(self.bench(GOOD_DLKPROF), "start")
