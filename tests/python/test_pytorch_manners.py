"""python/dlkprof on a stand-in for PyTorch beside other profilers, after forks and failures: what never reaches the program."""

from harness import PYTHON
from net import NET, NET_PATHS, PyTorchTest


class ProfilersTest(PyTorchTest):
    """A profiler of the program's own works as it does without us, and ours makes way for it."""

    def test_ours_makes_way(self):
        for version in ("1.13.1", "2.11.0"):
            for name, fact in (("profile", "autograd_profile"), ("emit_nvtx", "emit_nvtx")):
                done = self.run_net(
                    f"""
with torch.autograd.profiler.{name}() as profiler:
    net(x)
print(profiler.results)
net(x)
""",
                    FAKE_TORCH_VERSION=version,
                )
                self.assert_clean(done)
                self.assertEqual(done.stdout, "results\n")
                state = "KINETO" if name == "profile" else "NVTX"
                switches = [what.split()[:2] for what in done.log if what.split()[0] in ("enable", "disable")]
                self.assertEqual(
                    switches,
                    [
                        ["enable", "NVTX"],
                        ["disable", "NVTX"],
                        ["enable", state],
                        ["disable", state],
                        ["enable", "NVTX"],
                        ["disable", "NVTX"],
                    ],
                    (version, name),
                )
                self.assertEqual(done.facts()[fact], "true")

    def test_one_that_cannot_start_fails_as_ever(self):
        done = self.run_net(
            """
with torch.autograd.profiler.profile():
    try:
        torch.autograd.profiler.profile().__enter__()
    except RuntimeError as error:
        print(error)
net(x)
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.stdout, "Profiler is already enabled on this thread.\n")
        self.assertEqual(done.log.count("push aten::linear"), 3)

    def test_the_flag_that_compiled_kernels_ask(self):
        done = self.run_net(
            "print(torch.autograd.profiler._is_profiler_enabled)\nwith torch.autograd.profiler.profile(): pass\n"
            "net(x)\nprint(torch.autograd.profiler._is_profiler_enabled)"
        )
        self.assertEqual(done.stdout, "True\nTrue\n")


class LettingGoTest(PyTorchTest):
    """Once nobody hears ranges any more nothing is emitted but where steps end."""

    OPTIMIZER = """
import sys, types
hooks = []
optimizer = types.ModuleType("torch.optim.optimizer")
optimizer.register_optimizer_step_post_hook = hooks.append
sys.modules[optimizer.__name__] = optimizer

class SGD:
    def step(self):
        for hook in hooks:
            hook(self, (), {})
"""

    def test_only_steps_are_marked_then(self):
        done = self.run_net(self.OPTIMIZER + """
for _ in range(6):
    net(x)
    SGD().step()
print(len(torch.nn.modules.module._global_forward_hooks), torch._C.thread.profiler)
""", FAKE_NVTX_HEARD="40")  # fmt: skip
        self.assert_clean(done)
        self.assertEqual(done.stdout, "0 None\n")
        pushed = [what for what in done.log if what.startswith("push ")]
        last = max(i for i, what in enumerate(pushed) if what.startswith("push dlkprof:phase: forward"))
        self.assertIn("push Optimizer.step#SGD.step", pushed)
        self.assertEqual({"push Optimizer.step#SGD.step"}, set(pushed[last + 2 :]))  # behind the module that was being entered

    def test_a_tool_that_never_hears_ranges_changes_nothing(self):
        done = self.run_net("net(x)\nnet(x)", FAKE_NVTX_HEARD="0")
        self.assert_clean(done)
        self.assertEqual(done.paths(), NET_PATHS * 2)

    def test_facts_are_told_to_the_end(self):
        done = self.run_net("for _ in range(6):\n    net(x)\ntorch.backends.cudnn.benchmark = True", FAKE_NVTX_HEARD="40")
        self.assertEqual(done.facts()["cudnn.benchmark"], "true")

    def test_what_compiled_modules_say_of_hooks_is_not_heard(self):
        warn = (
            "import warnings\nwarnings.warn('Using `torch.compile(module)` when there are global hooks on modules (e.g., ...)')\n"
        )
        self.assert_clean(self.run_net(warn + "net(x)"))


class ForkTest(PyTorchTest):
    def test_a_data_loader_worker_is_silent(self):
        done = self.run_net(
            """
import os
net(x)
if os.fork() == 0:
    nn.ReLU()(torch.ones(2))
    raise SystemExit(0)
os.wait()
net(x)
"""
        )
        self.assert_clean(done)
        self.assertEqual(len({process for process, _, what in done.events if not what.startswith("disable")}), 1)
        self.assertEqual(done.paths(), NET_PATHS * 2)

    def test_a_child_inside_a_module(self):
        done = self.run_net(
            """
import os
def fork(x):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    return x
net.head.forward = fork
net(x)
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.paths(), NET_PATHS)


class FailuresTest(PyTorchTest):
    """Whatever fails in ours is one line on stderr, and the program goes on."""

    def test_one_line_and_no_more(self):
        for fault in ("profiler", "push"):
            done = self.run_net("net(x)\nnet(x).backward()\nprint('done')", FAKE_TORCH_FAULT=fault)
            self.assertEqual((done.code, done.stdout), (0, "done\n"), fault)
            self.assertRegex(done.stderr, r"\Adlkprof: PyTorch's ranges and facts are missing from here on: RuntimeError: .*\n\Z")
            quiet = self.run_net("net(x)\nprint('done')", FAKE_TORCH_FAULT=fault, asked="pytorch, quiet")
            self.assertEqual((quiet.code, quiet.stdout, quiet.stderr), (0, "done\n", ""))

    def test_a_module_whose_names_cannot_be_read(self):
        done = self.run_net(
            """
def named_modules(*_):
    raise OSError("no names")
Net.named_modules = named_modules
net(x)
print("done")
"""
        )
        self.assertEqual((done.code, done.stdout, len(done.stderr.splitlines())), (0, "done\n", 1))
        self.assertEqual(done.ranges("dlkprof:"), [])

    def test_marks_that_fail(self):
        done = self.run_net("net(x)\nprint('done')", FAKE_TORCH_FAULT="mark")
        self.assertEqual((done.code, done.stdout), (0, "done\n"))
        self.assertLessEqual(len(done.stderr.splitlines()), 1)

    def test_a_pytorch_that_has_none_of_it(self):
        self.write("other/torch.py", "class version:\n    cuda = '99'\n")
        done = self.run_script("import torch\nprint('done')", path=[self.folder / "other"])
        self.assertEqual((done.code, done.stdout, len(done.stderr.splitlines())), (0, "done\n", 1))


class ProgramsOwnTest(PyTorchTest):
    """`import dlkprof` in a script, without the profiler asking."""

    def run_own(self, source):
        return self.run_script(source, asked=None, path=[PYTHON])

    def test_init_before_and_after_torch(self):
        for source in ("import dlkprof\ndlkprof.init()\n" + NET, NET + "import dlkprof\ndlkprof.init()\ndlkprof.init()\n"):
            done = self.run_own(source + "net(x)")
            self.assert_clean(done)
            self.assertEqual(done.paths(), NET_PATHS)
            self.assertEqual(done.log.count("enable NVTX shapes=True"), 1)

    def test_init_with_less(self):
        done = self.run_own("import dlkprof\ndlkprof.init(record_shapes=False, modules=False)\n" + NET + "net(x)")
        self.assertEqual((done.log[0], done.paths()), ("enable NVTX shapes=False", []))

    def test_ranges_of_the_program(self):
        source = (
            NET
            + """
import dlkprof
{init}
@dlkprof.scope("loss")
def loss(x):
    return net.head(x)
for batch in dlkprof.dataloader([x, x]):
    with dlkprof.step():
        loss(batch)
"""
        )
        done = self.run_own(source.format(init="dlkprof.init()"))
        self.assert_clean(done)
        step = [
            (0, "dlkprof:dataloader"),
            (0, "dlkprof:step"),
            (1, "dlkprof:function: loss"),
            (2, "dlkprof:phase: forward"),
            (3, "dlkprof:module: Linear"),
        ]
        self.assertEqual(done.ranges("dlkprof:"), [*step, *step, (0, "dlkprof:dataloader")])
        self.assertEqual(self.run_own(source.format(init="")).log, [])
