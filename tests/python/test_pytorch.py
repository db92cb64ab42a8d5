"""python/dlkprof on a stand-in for PyTorch: which ranges and facts reach NVTX."""

from net import NET_PATHS, PyTorchTest

FORWARD, BACKWARD = (0, "dlkprof:phase: forward"), (0, "dlkprof:phase: backward")
VERSIONS = ("1.11.0", "1.13.1", "2.1.0", "2.11.0")


class ModulesTest(PyTorchTest):
    def test_nested_modules_have_their_attribute_paths(self):
        for version in VERSIONS:
            done = self.run_net("net(x)\nnet(x)", FAKE_TORCH_VERSION=version)
            self.assert_clean(done)
            self.assertEqual(done.paths(), NET_PATHS * 2, version)

    def test_a_range_is_around_the_ops_of_its_module(self):
        done = self.run_net("net.head(x)")
        self.assertEqual(done.ranges()[-3:], [FORWARD, (1, "dlkprof:module: Linear"), (2, "aten::linear")])

    def test_a_module_called_twice_has_its_name_twice(self):
        done = self.run_net("net.layer1._modules['1'] = net.head\nnet(x)")
        self.assertEqual(done.paths()[-2:], ["/Net/layer1/1", "/Net/layer1.1"])

    def test_modules_in_containers_that_are_not_called(self):
        done = self.run_net(
            """
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Module()
        self.blocks.first = nn.ReLU()
    def forward(self, x):
        return self.blocks.first(x)
Outer()(x)
"""
        )
        self.assertEqual(done.paths(), ["/Outer", "/Outer/blocks.first"])

    def test_modules_that_come_and_go(self):
        done = self.run_net(
            """
net(x)
net.head = Block()
net(x)
net.layer1.forward = lambda x: nn.ReLU()(x)
for _ in range(40):
    net(x)
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.paths()[7:15], [*NET_PATHS, "/Net/head/conv1"])
        head = ["/Net/head", "/Net/head/conv1", "/Net/head/act"]
        self.assertEqual(done.paths()[16:], ["/Net", "/Net/layer1", "/Net/layer1/ReLU", *head] * 40)

    def test_a_module_that_moves_has_its_new_name_once_modules_are_read_again(self):
        done = self.run_net(
            """
net(x)
net.head = net._modules.pop("head")
net._modules["tail"] = net._modules.pop("head")
net(x)
net.layer1._modules["1"] = nn.ReLU()
net.layer1.forward = lambda x: net.layer1._modules["1"](x)
net(x)
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.paths()[7:], [*NET_PATHS, "/Net", "/Net/layer1", "/Net/layer1/1", "/Net/tail"])

    def test_a_part_of_a_known_module_called_by_itself(self):
        done = self.run_net("net(x)\nnet.layer1(x)\n")
        self.assertEqual(done.paths()[7], "/Net.layer1")

    def test_names_keep_no_module_alive(self):
        done = self.run_net(
            """
import gc, weakref
gc.disable()
net(x)
seen = weakref.ref(net)
del net
print(seen(), [type(one).__name__ for one in gc.get_objects() if type(one).__name__ == "Tree"])
"""
        )
        self.assertEqual(done.stdout, "None []\n")

    def test_a_module_that_raises(self):
        for version in VERSIONS:
            done = self.run_net(
                """
for _ in range(2):
    net.fail = ValueError("on purpose")
    try:
        net(x)
    except ValueError as error:
        print(error)
    net.fail = None
    net(x)
""",
                FAKE_TORCH_VERSION=version,
            )
            self.assert_clean(done)
            self.assertEqual(done.stdout, "on purpose\n" * 2)
            self.assertEqual(done.paths(), (NET_PATHS[:-1] + NET_PATHS) * 2, version)

    def test_an_interrupted_module(self):
        done = self.run_net(
            """
net.fail = KeyboardInterrupt()
try:
    net(x)
except KeyboardInterrupt:
    net.fail = None
    net(x)
"""
        )
        self.assertEqual(done.paths(), NET_PATHS[:-1] + NET_PATHS)

    def test_a_module_that_calls_itself(self):
        done = self.run_net(
            """
class Tree(nn.Module):
    def forward(self, x, depth=0):
        return x if depth == 2 else self(x, depth + 1)
outer = nn.Sequential(Tree())
outer(x)
"""
        )
        self.assertEqual(done.paths(), ["/Sequential", "/Sequential/0", "/Sequential/0/0", "/Sequential/0/0/0"])

    def test_threads_have_ranges_and_emission_of_their_own(self):
        done = self.run_net(
            """
import threading
threads = [threading.Thread(target=net, args=(x,)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
        )
        self.assert_clean(done)
        self.assertEqual(sorted(done.paths()), sorted(NET_PATHS * 3))
        self.assertEqual(done.log.count("push aten::linear"), 9)
        on = [what for what in done.log if what.startswith("enable NVTX")]
        self.assertGreater(len(on), 3)
        self.assertEqual(done.log.count("disable NVTX"), len(on), "PyTorch warns of what is on when a thread has ended")

    def test_compiled_modules_have_no_hooks_in_them(self):
        done = self.run_net("torch.compile(net)(x)")
        self.assert_clean(done)
        self.assertEqual(done.paths(), [])

    def test_pytorch_2_0_whose_hooks_cannot_tell(self):
        source = "net(x).backward()\nprint(len(nn.modules.module._global_forward_hooks))"
        done = self.run_net(source, FAKE_TORCH_VERSION="2.0.1")
        self.assert_clean(done)
        self.assertEqual((done.stdout, done.paths()), ("0\n", []))
        self.assertIn(BACKWARD, done.ranges())


class StacksTest(PyTorchTest):
    """With --stacks a module says where it is called."""

    def sites(self, done):
        prefix = "dlkprof:module: "
        return [tuple(message[len(prefix) :].split(" @ ")) for _, message in done.ranges(prefix)]

    def test_modules_say_the_line_of_the_program_that_calls_them(self):
        for version in VERSIONS:
            done = self.run_net("net(x)", asked="pytorch,stacks", FAKE_TORCH_VERSION=version)
            self.assert_clean(done)
            script = str(self.folder / "train.py")
            lines = (self.folder / "train.py").read_text().splitlines()
            names = [name for name, _ in self.sites(done)]
            self.assertEqual(names, ["Net", "layer1", "0", "conv1", "act", "1", "head"], version)
            for name, site in self.sites(done):
                path, _, function = site.partition(" in ")
                file, _, line = path.rpartition(":")
                self.assertEqual(file, script)
                code = lines[int(line) - 1]
                wanted = {
                    "Net": "net(x)",
                    "layer1": "self.layer1(x)",
                    "0": "self.layer1(x)",
                    "1": "self.layer1(x)",
                    "head": "self.head(x)",
                    "conv1": "self.act(self.conv1(x))",
                    "act": "self.act(self.conv1(x))",
                }[name]
                self.assertIn(wanted, code)
                self.assertEqual(function, "<module>" if name == "Net" else "forward")

    def test_without_it_they_do_not(self):
        self.assertNotIn(" @ ", "".join(self.run_net("net(x)").log))

    def test_two_calls_on_one_line_and_code_made_anew(self):
        done = self.run_net(
            """
net.head(x), net.head(x)
for i in range(3):
    exec(compile(f"net.head(x)", f"made{i}.py", "exec"))
""",
            asked="pytorch,stacks",
        )
        self.assertEqual(
            [site.split(":")[0].rpartition("/")[2] for _, site in self.sites(done)],
            ["train.py", "train.py", "made0.py", "made1.py", "made2.py"],
        )


class PhasesTest(PyTorchTest):
    def test_backward_and_what_runs_in_it(self):
        done = self.run_net(
            """
loss = nn.ReLU()(net(x))
torch.autograd.backward.__wrapped__.recompute.append(lambda: net.layer1(x))
loss.backward()
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.ranges("dlkprof:phase"), [FORWARD, FORWARD, BACKWARD])
        self.assertIn((0, "MulBackward0, seq = 1"), done.ranges())
        self.assertEqual(done.paths()[8], "/Net.layer1")

    def test_a_backward_that_raises(self):
        done = self.run_net(
            """
try:
    torch.autograd.backward("bad")
except RuntimeError as error:
    print(error)
net(x)
"""
        )
        self.assertEqual(done.stdout, "element 0 of tensors does not require grad\n")
        self.assertEqual(done.ranges("dlkprof:phase"), [BACKWARD, FORWARD])

    def test_what_is_covered_keeps_its_name(self):
        done = self.run_net(
            """
import inspect
covered = torch.autograd.backward
print(covered.__module__, covered.__qualname__, inspect.signature(covered))
"""
        )
        self.assertEqual(done.stdout, "torch.autograd backward (tensors)\n")


class FactsTest(PyTorchTest):
    def test_what_is_told_without_being_asked(self):
        facts = self.run_net("net(x)", RANK="3", WORLD_SIZE="8").facts()
        python = facts.pop("python.version")
        self.assertRegex(python, r"^3\.\d+\.\d+")
        gib = 1 << 30
        self.assertEqual(
            facts,
            {
                "version": "2.11.0",
                "cuda.version": "13.0",
                "cudnn.version": "91002",
                "cudnn.benchmark": "false",
                "cudnn.benchmark_set": "false",
                "gpus.visible": "2",
                "rank": "3",
                "world_size": "8",
                "amp": "false",
                "anomaly_mode": "false",
                "gradcheck": "false",
                "gradgradcheck": "false",
                "autograd_profile": "false",
                "batch_size": "8",
                "memory.0.total": str(80 * gib),
                "memory.0.free": str(70 * gib),
                "memory.0.reserved_peak": str(3 * gib),
                "memory.0.allocated_peak": str(gib),
                "memory.0.free_at_peak": str(69 * gib),
            },
        )

    def test_what_the_program_does(self):
        facts = self.run_net(
            """
with torch.autocast("cuda", dtype="torch.bfloat16"):
    net(x)
with torch.autograd.detect_anomaly():
    net(x).backward()
torch.autograd.gradcheck(None, ())
torch.autograd.gradgradcheck(None, ())
torch.backends.cudnn.benchmark = True
net(x)
torch.backends.cudnn.benchmark = False
"""
        ).facts()
        expected = {
            "amp": "true",
            "amp.dtype": "torch.bfloat16",
            "anomaly_mode": "true",
            "gradcheck": "true",
            "gradgradcheck": "true",
            "cudnn.benchmark": "false",
            "cudnn.benchmark_set": "true",
        }
        self.assertEqual({name: facts[name] for name in expected}, expected)

    def test_the_usual_batch_size(self):
        facts = self.run_net("for size in (4, 16, 16, 16, 5): net(x=torch.ones(size, 2))").facts()
        self.assertEqual(facts["batch_size"], "16")
        facts = self.run_net(
            "class Dict(nn.Module):\n    def forward(self, flag, batch): pass\n"
            "Dict()(None, {'ids': [torch.ones(7, 2)]})\nDict()(None, 'x' * 3)"
        ).facts()
        self.assertEqual(facts["batch_size"], "7")

    def test_tensors_of_other_types_are_not_asked(self):
        done = self.run_net(
            """
from torch import _C
class Proxy(torch.Tensor):
    @property
    def shape(self):
        raise SystemExit("asked")
net(Proxy(2, 2))
_C.tracing = "tracing"
net(torch.ones(3, 3))
print(_C.questions)
"""
        )
        self.assert_clean(done)
        self.assertEqual(done.stdout, "[]\n")
        self.assertNotIn("batch_size", done.facts())

    def test_a_program_without_modules(self):
        done = self.run_net("torch.autograd.gradcheck(None, ())")
        self.assertEqual((done.facts()["version"], done.facts()["gradcheck"]), ("2.11.0", "true"))

    def test_a_program_that_is_killed_has_told_what_was_known(self):
        done = self.run_net("import os\nnet(x)\nos._exit(0)")
        self.assertEqual((done.facts()["version"], done.facts()["batch_size"]), ("2.11.0", "8"))

    def test_facts_that_cannot_be_had_are_missing(self):
        done = self.run_net("torch.cuda.mem_get_info = torch.backends.cudnn.version = None\nnet(x)")
        self.assert_clean(done)
        self.assertEqual(done.paths(), NET_PATHS)
        self.assertNotIn("memory.0.total", done.facts())
        self.assertNotIn("cudnn.version", done.facts())
