"""Part compiled: kernels of compiled code without a module or a line must not pass."""

import contextlib
import sqlite3
import unittest

import compiled_ops
import part_compiled
from compiled_ops import Work
from harness import CheckFailed
from op_database import OpDatabase
from stand_ins import InFolder

MODULE, STACK = "/Llama/model/layers/3/mlp", "llama.py:12 in forward < train.py:3 in <module>"


def work(gpu_ns=100, **changes):
    whole = {
        "kernel": "triton_poi_0",
        "op": f"{MODULE}/triton_poi_0",
        "direction": "fprop",
        "in_graph": False,
        "module": MODULE,
        "stack": STACK,
        "made_of": "aten.add",
    }
    return Work(gpu_ns=gpu_ns, **{**whole, **changes})


UNKNOWN = work(op="/Llama/CompiledFunction/## Call CompiledFxGraph f ##", module="", stack="", made_of="")
OPTIMIZER = work(op="/Optimizer.step#AdamW.step/aten::_fused_adamw_", module="", stack="", made_of="")


class JudgeTest(unittest.TestCase):
    def test_known_kernels_pass_and_the_optimizer_does_not_count(self):
        words = part_compiled.judge_works([work(9600), work(400, direction="bprop", stack=""), OPTIMIZER], 1)
        self.assertIn(
            "96.00 % of the GPU time of compiled code has a module and a line (0.00 % of the backward pass), 95.05 % of all; "
            "1 layers",
            words,
        )

    def test_what_lacks_the_one_or_the_other_does_not(self):
        for lacking in (UNKNOWN, work(stack=""), work(module=""), work(stack="triton_poi_0")):
            with self.assertRaisesRegex(CheckFailed, "0 us of triton_poi_0 in"):
                part_compiled.judge_works([work(900), lacking], 1)

    def test_without_compiled_code_or_layers_there_is_nothing_to_judge(self):
        with self.assertRaisesRegex(CheckFailed, "no kernel of compiled code"):
            part_compiled.judge_works([OPTIMIZER], 1)
        with self.assertRaisesRegex(CheckFailed, "0 layers; 1 are asked for"):
            part_compiled.judge_works([work(module="/Llama/model")], 1)

    def test_all_in_one_layer_is_not_where_it_was_written(self):
        layers = [work(module=f"/Llama/model/layers/{layer}/mlp") for layer in range(8)]
        self.assertIn("8 layers", part_compiled.judge_works(layers, 8))
        with self.assertRaisesRegex(CheckFailed, "1 layers; 8 are asked for"):
            part_compiled.judge_works(8 * layers[:1], 8)


class DatabaseTest(InFolder):
    def setUp(self):
        super().setUp()
        path = self.folder / "run_dldb.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.executescript(
                f"""
CREATE TABLE kernels (kind, long_kernel_name, iteration, op_id, op_name, direction, gpu_ns, in_graph);
CREATE TABLE ops (op_id, module, stack_trace, made_of);
CREATE TABLE aggregation (id, first_iteration, last_iteration);
CREATE TABLE notice (what);
INSERT INTO aggregation VALUES (1, 0, 9), (2, 3, 4);
INSERT INTO ops VALUES ('a', '{MODULE}', '{STACK}', 'aten.add');
INSERT INTO kernels VALUES ('kernel', 'triton_poi_0', 3, 'a', '{MODULE}/triton_poi_0', 'fprop', 100, 0),
  ('kernel', 'triton_poi_0', 9, 'a', '{MODULE}/triton_poi_0', 'fprop', 100, 0), ('copy', 'copy', 3, 'a', '', '', 100, 0);
INSERT INTO notice VALUES ('GPU work left out: 3'), ('1,240 launches of autotuning left out');
"""
            )
        self.database = OpDatabase(path)

    def test_kernels_of_the_steady_iterations_are_read(self):
        self.assertEqual(compiled_ops.read(self.database), [work()])

    def test_trials_are_counted_by_the_note(self):
        self.assertEqual(part_compiled.autotuning_of(self.database), "1,240 launches of autotuning")
