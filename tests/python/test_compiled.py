"""What Inductor says of its kernels, on artifacts made by hand in its formats (torch/_inductor/compile_fx.py, PyTorch 2.9 to 2.11)."""

import json
import sys
import types

from harness import PYTHON, PythonTest

sys.path.insert(0, str(PYTHON))

from dlkprof import _origins  # noqa: E402

PROGRAM = """
import torch
torch.ones(2).cuda()
from torch._inductor import compile_fx, config
from torch._inductor.compile_fx import Node, Program

class Llama: pass
class Layer: pass
class Mlp: pass

def stack(*frames):
    return "".join(f'  File "{file}", line {line}, in {function}\\n    code = here\\n' for file, line, function in frames)

FORWARD = ("llama.py", 30, "forward")
def around(layer, *more):
    return {"a": ("L['self']", Llama), "b": (f"L['self']._modules['layers']._modules['{layer}']", Layer), **dict(more)}
def mlp(layer):
    return around(layer, ("c", (f"L['self'].layers.{layer}.mlp", Mlp)))
IN_MLP, IN_LAYER = stack(FORWARD, ("llama.py", 7, "mlp")), stack(FORWARD, ("llama.py", 12, "layer"))

before = [Node("linear", nn_module_stack=mlp(0), stack_trace=IN_MLP), Node("linear_1", nn_module_stack=mlp(1), stack_trace=IN_MLP),
          Node("add", nn_module_stack=around(0), stack_trace=IN_LAYER), Node("x")]
after = [Node("mm", nn_module_stack=mlp(0), stack_trace=IN_MLP, original_aten="aten.mm.default"),
         Node("mul", nn_module_stack=around(1), stack_trace=IN_LAYER, original_aten="aten.mul.Tensor"),
         Node("add_1", nn_module_stack=around(1), stack_trace=IN_LAYER, original_aten="aten.add.Tensor"),
         Node("relu", nn_module_stack=mlp(0), stack_trace=IN_MLP, original_aten="aten.relu.default")]
launches = [("extern_kernels.mm:1", [IN_MLP], ["mm"]), ("triton_poi_fused_add_mul_relu_0:2", [IN_MLP, IN_LAYER], ["relu", "mul", "add_1"])]

def compile(**options):
    program = {"before": before, "after": after, "launches": launches, "key": "fx7", **options}
    return compile_fx.compile_fx(Program(**program), [])
"""
MM = ["extern_kernels.mm", "*Llama", "layers.0/mlp", "aten.mm", 0]
IN_MLP, IN_LAYER = "llama.py:7 in mlp < llama.py:30 in forward", "llama.py:12 in layer < llama.py:30 in forward"


class CompiledTest(PythonTest):
    def run_program(self, source, **options):
        return self.run_script(PROGRAM + source, **options)

    def graphs(self, done):
        return {name: json.loads(value) for name, value in done.facts().items() if name.startswith("compiled.")}


class ArtifactsTest(CompiledTest):
    def test_a_launch_has_the_module_and_stack_of_most_of_its_nodes_and_all_their_ops(self):
        done = self.run_program("print(compile())")
        self.assert_clean(done)
        self.assertEqual(done.stdout, "compiled fx7\n")
        self.assertEqual(
            self.graphs(done),
            {
                "compiled.fx7.0": {
                    "launches": [
                        MM,
                        ["triton_poi_fused_add_mul_relu_0", "*Llama", "layers.1", "aten.relu, aten.mul, aten.add", 1],
                    ],
                    "stacks": [IN_MLP, f"{IN_LAYER} | {IN_MLP}"],
                }
            },
        )

    def test_what_comes_from_a_cache_is_found_by_the_names_of_dynamos_nodes(self):
        done = self.run_program("compile(is_cached=True, post_to_pre={'mm': ['linear'], 'mul': ['x'], 'add_1': ['add']})")
        self.assertEqual(
            [row[:3] for row in self.graphs(done)["compiled.fx7.0"]["launches"]],
            [MM[:3], ["triton_poi_fused_add_mul_relu_0", "*Llama", "layers.0"]],
        )

    def test_a_backward_graph_from_a_cache_by_stacks_that_layers_share(self):
        done = self.run_program("compile(is_cached=True, post_to_pre={'mm': ['linear']})\ncompile(is_cached=True, key='bw')")
        self.assertEqual(
            self.graphs(done)["compiled.bw.0"]["launches"][0], ["extern_kernels.mm", "*Llama", "layers.*/mlp", "", 0]
        )

    def test_a_backward_node_has_its_forward_nodes_modules(self):
        done = self.run_program("compile(after=[Node('mm', fwd_nn_module_stack=mlp(1), original_aten='aten.mm.default')])")
        self.assertEqual(self.graphs(done)["compiled.fx7.0"]["launches"][0], [*MM[:2], "layers.1/mlp", *MM[3:]])

    def test_graphs_without_a_key_are_numbered(self):
        done = self.run_program("compile(key=None)\ncompile(key=None)\ncompile()")
        self.assertEqual(list(self.graphs(done)), ["compiled.-1.0", "compiled.-2.0", "compiled.fx7.0"])

    def test_a_graph_is_told_once(self):
        done = self.run_program("compile()\ncompile()")
        self.assertEqual(len([what for what in done.log if "compiled.fx7" in what]), 1)

    def test_large_graphs_are_told_in_parts_that_the_library_takes(self):
        done = self.run_program(
            """
many = [(f"triton_{i}:{i}", [stack((f"file{i}.py", i, "forward" * 9))], ["mm"]) for i in range(900)]
compile(launches=many)
"""
        )
        parts = self.graphs(done)
        self.assertGreater(len(parts), 2)
        self.assertEqual(sum(len(part["launches"]) for part in parts.values()), 900)
        for part in parts.values():
            self.assertLess(len(json.dumps(part)), 64 * 1024 - 200)
            for row in part["launches"]:
                self.assertIn(f"file{row[0][7:]}.py:", part["stacks"][row[4]])

    def test_before_cuda_is_used_nothing_is_told_and_then_all(self):
        source = (
            PROGRAM.replace("torch.ones(2).cuda()\n", "")
            + "compile()\nimport os\nassert not os.path.exists('log') or 'compiled.' not in open('log').read()\n"
        )
        done = self.run_script(source + "torch.ones(2).cuda()\ncompile(key='fx8')")
        self.assert_clean(done)
        self.assertEqual(list(self.graphs(done)), ["compiled.fx7.0", "compiled.fx8.0"])


class ProgramsOwnTest(CompiledTest):
    def test_the_program_asks_for_more_provenance_itself(self):
        done = self.run_program("print(config.trace.provenance_tracking_level)", INDUCTOR_PROVENANCE="2")
        self.assertEqual(done.stdout, "2\n")

    def test_what_is_cached_is_kept_apart_unless_the_program_does_so_itself(self):
        source = "import torch.compiler.config\nprint(torch.compiler.config.cache_key_tag)"
        self.assertEqual(self.run_program(source).stdout, "dlkprof\n")
        self.assertEqual(self.run_program(source, TORCH_COMPILE_CACHE_KEY_TAG="mine").stdout, "mine\n")
        self.assertEqual(self.run_program(source, asked=None).stdout, "\n")

    def test_no_file_is_written_and_nothing_reaches_other_loggers(self):
        done = self.run_program(
            """
import logging, os
logging.basicConfig(level=logging.DEBUG)
compile()
print(sorted(os.listdir()))
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.stdout, "['log', 'train.py']\n")

    def test_what_is_covered_keeps_its_name_and_raises_as_ever(self):
        done = self.run_program(
            """
print(compile_fx.compile_fx.__module__, compile_fx.compile_fx.__qualname__)
try:
    compile_fx.compile_fx(None, [])
except AttributeError as error:
    print(error)
"""
        )
        self.assertEqual(done.stdout, "torch._inductor.compile_fx compile_fx\n'NoneType' object has no attribute 'is_cached'\n")
        self.assertEqual(done.stderr, "")


class FailuresTest(CompiledTest):
    def test_a_pytorch_that_knows_no_provenance(self):
        done = self.run_program("print(compile())", FAKE_TORCH_FAULT="no_provenance")
        self.assert_clean(done)
        self.assertEqual((done.stdout, self.graphs(done)), ("compiled fx7\n", {}))

    def test_a_cache_that_was_filled_without_provenance(self):
        done = self.run_program("config.trace.provenance_tracking_level = 0\nprint(compile(is_cached=True))")
        self.assert_clean(done)
        self.assertEqual(self.graphs(done), {})

    def test_artifacts_of_other_forms_end_it_and_are_noted_once(self):
        for odd in (
            "{'launches': [('triton_0:1', 7, ['mm'])]}",
            "{'launches': [(f'triton_0:1', [], 7)]}",
            "{'before': [7]}",
            "{'post_to_pre': 'odd'}",
            "{'after': [Node('mm', nn_module_stack={'a': 7})]}",
            "{'key': 'k', 'post_to_pre': 7}",
        ):
            done = self.run_program(f"print(compile(**{odd}))\nprint(compile(key='fx9'))")
            self.assertEqual((done.code, done.stderr), (0, ""), odd)
            self.assertEqual(done.stdout.splitlines()[1], "compiled fx9", odd)
            self.assertLessEqual(len([what for what in done.log if "compiled_failure" in what]), 1, odd)

    def test_marks_that_fail_do_not_reach_the_program(self):
        done = self.run_program("print(compile())", FAKE_TORCH_FAULT="mark")
        self.assertEqual((done.code, done.stdout), (0, "compiled fx7\n"))


class Node:
    def __init__(self, **meta):
        self.name, self.meta = "node", meta


class OriginsTest(PythonTest):
    def modules(self, *stack):
        return _origins.modules_of(Node(nn_module_stack={str(i): entry for i, entry in enumerate(stack)}))

    def test_modules_are_named_as_in_ranges(self):
        class Net:
            pass

        for root, is_called in (
            ("L['self']", True),
            ("L['fn']", True),
            ("L['model']", False),
            ("G['net']", False),
            ("L['self'].model", False),
        ):
            paths = [f"{root}{rest}" for rest in ("", "._modules['layers'][3]", ".layers.3.mlp.act")]
            self.assertEqual(self.modules(*((path, Net) for path in paths)), ("*" * is_called + "Net", "layers.3/mlp.act"), root)

    def test_a_compiled_forward_names_no_module_of_its_own(self):
        class Net:
            pass

        stack = {str(i): (f"L['self'].blocks{rest}", Net) for i, rest in enumerate(("", ".0", ".0.attn"))}
        node, weight, origins = Node(nn_module_stack=stack), Node(), _origins.Origins()
        weight.op = "placeholder"
        for name, expected in (
            ("l_self_modules_blocks_modules_0_", ["*", "blocks/0/attn"]),
            ("l_self_blocks_modules_0_", ["Net", "0/attn"]),
        ):
            weight.name = name
            origins.see(types.SimpleNamespace(graph=types.SimpleNamespace(nodes=[weight, node])))
            self.assertEqual(origins.launch("mm:1", [], ["node"], {"node": node}, {})[1:3], expected)

    def test_classes_may_be_texts(self):
        self.assertEqual(self.modules(("", "net.Net"), ("head", "torch.nn.Linear")), ("Net", "head"))

    def test_no_module_is_around(self):
        self.assertIsNone(_origins.modules_of(Node()))
        self.assertIsNone(_origins.modules_of(Node(nn_module_stack={})))

    def test_frames_stand_on_one_line_with_the_innermost_first(self):
        self.assertEqual(
            _origins.frames('  File "a b.py", line 3, in f\n    x = 1\n  File "c.py", line 4, in <lambda>\n    y'),
            "c.py:4 in <lambda> < a b.py:3 in f",
        )
        self.assertEqual(_origins.frames("nothing"), "")

    def test_paths_that_differ_in_a_number_have_a_star_and_others_end(self):
        for paths, pattern in (
            (["layers.0/mlp", "layers.1/mlp"], "layers.*/mlp"),
            (["a/b", "a/c"], "a"),
            (["a", "a/b"], "a"),
            (["a"], "a"),
            (["a", "b"], ""),
        ):
            self.assertEqual(_origins._pattern(paths), pattern)
