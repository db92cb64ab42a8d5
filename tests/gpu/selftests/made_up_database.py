"""A database of a training run that never was: what the tests of this folder ask of it, by the names of docs/reference/schema.md."""

import contextlib
import sqlite3

SCHEMA = """
CREATE TABLE summary (aggregation, key_node, key_node_source, key_nodes_found, total_iterations, mean_iteration_ns);
CREATE TABLE iterations (iteration);
CREATE TABLE detail (op_id, op_name, direction, op_type, calls, gpu_total_ns);
CREATE TABLE fact (id INTEGER PRIMARY KEY, name, value);
CREATE TABLE kernel (mangled, long_name);
CREATE TABLE string (id INTEGER PRIMARY KEY, value);
CREATE TABLE range (id INTEGER PRIMARY KEY, start_ns, end_ns, parent, message, kind);
CREATE TABLE kernels (kind, long_kernel_name, iteration, op_name, op_type, direction, gpu_ns, gpu_start_ns, api_start_ns,
                      op_instance);
"""

FORWARD, BACKWARD = "/Net/aten::mm", "autograd::engine::evaluate_function: MmBackward0, op_id = 7"
STEP_NS = 1000


class MadeUpDatabase:
    """Steps of a forward mm, and of a backward one on another thread after the gradient of the loss was made."""

    def __init__(self, path, steps=20):
        self.path = path
        with contextlib.closing(sqlite3.connect(path)) as self._connection, self._connection:
            self._connection.executescript(SCHEMA)
            self._add("summary", 1, "Optimizer.zero_grad#Adam.zero_grad", "framework", steps, steps + 1, 1e6)
            self._connection.executemany("INSERT INTO iterations VALUES (?)", [(n,) for n in range(steps + 1)])
            for op in (
                ("mm_1", FORWARD, "fprop", "aten::mm", steps, 900),
                ("mm_2", FORWARD, "bprop", "aten::mm", steps, 900),
                ("x_1", "unassociated_x", "", "x", 1, 1),
            ):
                self._add("detail", *op)
            self._add("fact", None, "batch_size", "128")
            self._add("kernel", "_Z2mmv", "mm(int, int)")
            self._work("copy", "[CUDA memcpy HtoD]", 0, "unassociated_x", "x", "", 10, 0, None)
            for step in range(1, steps + 1):
                self._step(step)

    def _step(self, step):
        begin = STEP_NS * step
        mm = self._range(begin, begin + 100, "aten::mm, seq = 3, op_id = 2, sizes = [[4, 3]]")
        self._work("kernel", "mm(int, int)", step, FORWARD, "aten::mm", "fprop", 900, begin + 10, mm)
        phase = self._range(begin + 200, begin + 400, "dlkprof:phase: backward")
        fill = self._range(begin + 210, begin + 220, "aten::fill_", phase)
        self._work("kernel", "fill()", step, "/phase: backward/aten::fill_", "aten::fill_", "", 10, begin + 215, fill)
        node = self._range(begin + 250, begin + 300, BACKWARD)
        mm = self._range(begin + 260, begin + 290, "aten::mm, op_id = 9", node)
        self._work("kernel", "mm(int, int)", step, FORWARD, "aten::mm", "bprop", 900, begin + 270, mm)

    def _range(self, start, end, message, parent=None):
        text = self._add("string", None, message)
        return self._add("range", None, start, end, parent, text, 0)

    def _work(self, kind, kernel, step, op_name, op_type, direction, gpu_ns, call_ns, op_range):
        self._add("kernels", kind, kernel, step, op_name, op_type, direction, gpu_ns, call_ns + 50, call_ns, op_range)

    def _add(self, table, *values):
        places = ", ".join("?" * len(values))
        return self._connection.execute(f"INSERT INTO {table} VALUES ({places})", values).lastrowid

    def change(self, statement):
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement)
