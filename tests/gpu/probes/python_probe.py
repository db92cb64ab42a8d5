#!/usr/bin/env python3
"""Whether python/ does on this machine's PyTorch what its tests say of a stand-in: python_probe.py [group...]

Needs PyTorch with CUDA and a GPU, and no profiler. Prints one line for each expectation, PASS or FAIL, and lines of
figures, INFO; exits 1 where one failed. Each group runs in a process of its own, under python/inject/ as a profiled
program does; range_texts needs that of an installation, and range_texts_probe.cpp built. What PyTorch and dlkprof push from
Python is recorded in place of NVTX.
"""

import atexit
import copy
import ctypes
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
INJECT = pathlib.Path(os.environ.get("DLKPROF_INJECT", ROOT / "python/inject"))  # or that of an installation
TIMEOUT_S = 240
DEVICE = "cuda"
GROUPS = {}  # name -> function(torch)
RANGE_TEXTS = os.environ.get("RANGE_TEXTS_PROBE", "")  # range_texts_probe.cpp as a library
RESULTS = "results"  # one more: that those of a program stay as they are


def group(function):
    GROUPS[function.__name__] = function
    return function


def expect(what, holds, found=""):
    print(f"{'PASS' if holds else 'FAIL'} {what}" + ("" if holds else f": {found}"), flush=True)
    return bool(holds)


def info(what):
    print(f"INFO {what}", flush=True)


class Recorder:
    """Stands in for torch._C._nvtx; each thread has its own depth."""

    def __init__(self):
        self.ranges = []  # (depth, message)
        self.marks = []
        self._thread = threading.local()

    def rangePushA(self, message):
        depth = self._thread.depth = getattr(self._thread, "depth", 0) + 1
        self.ranges.append((depth - 1, message))
        return depth - 1

    def rangePop(self):
        self._thread.depth = getattr(self._thread, "depth", 0) - 1
        return self._thread.depth

    def markA(self, message):
        self.marks.append(message)

    def depth(self):
        return getattr(self._thread, "depth", 0)

    def modules(self):
        prefix = "dlkprof:module: "
        return [message[len(prefix) :] for _, message in self.ranges if message.startswith(prefix)]

    def facts(self):
        words = (mark.split(" ", 3) for mark in self.marks if mark.startswith("dlkprof:fact: "))
        return {name: value for _, _, name, value in words}


def record(torch):
    recorder = torch.cuda.nvtx._nvtx = Recorder()
    return recorder


def make_net(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
            self.head = nn.Linear(8 * 6 * 6, 10)

        def forward(self, x, fail=False):
            x = self.features(x).flatten(1)
            if fail:
                raise ValueError("on purpose")
            return self.head(x)

    torch.manual_seed(0)
    return Net().to(DEVICE), torch.randn(4, 3, 8, 8).to(DEVICE)


NET_MODULES = ["Net", "features", "0", "1", "head"]


def is_emitting(torch):
    return torch.autograd._profiler_enabled() and str(torch._C._autograd._profiler_type()).endswith("NVTX")


@group
def start(torch):
    expect("importing torch does not initialize CUDA", not torch.cuda.is_initialized())
    expect("nothing is emitted before CUDA is used", not torch.autograd._profiler_enabled())
    torch.ones(2).to(DEVICE)
    expect("ranges are emitted once CUDA is used", is_emitting(torch))
    expect("the flag that compiled kernels ask is set", torch.autograd.profiler._is_profiler_enabled is True)


@group
def modules(torch):
    recorder = record(torch)
    net, x = make_net(torch)
    net(x)
    expect("nested modules have their paths", recorder.modules() == NET_MODULES, recorder.modules())
    expect("a forward phase is around them", recorder.ranges[0] == (0, "dlkprof:phase: forward"), recorder.ranges[:1])
    try:
        net(x, fail=True)
    except ValueError:
        pass
    expect("a module that raises leaves no range open", recorder.depth() == 0, recorder.depth())
    seen = []
    thread = threading.Thread(target=lambda: (net(x), seen.append(is_emitting(torch))))
    thread.start()
    thread.join()
    expect("another thread emits once it runs a module", seen == [True], seen)


@group
def backward(torch):
    from torch.utils.checkpoint import checkpoint

    recorder = record(torch)
    net, x = make_net(torch)
    x.requires_grad_()
    seen = []
    x.register_hook(lambda _: seen.append((is_emitting(torch), threading.get_ident() != threading.main_thread().ident)))
    net(x).sum().backward()
    expect("autograd's thread emits", seen == [(True, True)], seen)
    expect("backward is a phase", (0, "dlkprof:phase: backward") in recorder.ranges, recorder.ranges)
    for reentrant in (False, True):
        recorder.ranges.clear()
        net(x)
        checkpoint(net.features, x, use_reentrant=reentrant).sum().backward()
        twice = recorder.modules().count("Net.features")
        expect(f"a checkpoint computed again has its name (reentrant {reentrant})", twice == 2, recorder.ranges)
        expect(f"no range is left open (reentrant {reentrant})", recorder.depth() == 0, recorder.depth())


@group
def profilers(torch):
    net, x = make_net(torch)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        net(x)
        torch.cuda.synchronize()
    names = {event.key for event in profile.key_averages()}
    expect("the program's profiler sees its ops", "aten::conv2d" in names, sorted(names)[:9])
    expect("ours is back after it", is_emitting(torch))
    with torch.autograd.profiler.emit_nvtx():
        net(x)
    expect("ours is back after the program's emit_nvtx", is_emitting(torch))


@group
def compiled(torch):
    recorder = record(torch)
    net, x = make_net(torch)
    eager = net(x)
    result = torch.compile(net, fullgraph=True)(x)
    expect("a model compiles in one graph", torch.allclose(result, eager, atol=1e-2), (result - eager).abs().max())
    breaks = torch._dynamo.utils.counters["graph_break"]
    expect("there is no graph break", not breaks, dict(breaks))
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    compiled_again = torch.compile(net, fullgraph=True)
    for _ in range(3):
        compiled_again(x)
    after = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    expect("nothing is compiled again", after <= before + 1, (before, after))
    expect("no range is left open by compiling", recorder.depth() == 0, recorder.depth())
    recorder.ranges.clear()
    compiled_again(x)
    info(f"modules named in a compiled call: {recorder.modules()}")


def square_and_go_back(x):
    y = (x * x).sum()
    torch.autograd.backward([y])  # noqa: F821: TorchScript reads this with the globals of this file, where run_child put torch
    return y


@group
def tracers(torch):
    record(torch)
    net, x = make_net(torch)
    traced = torch.jit.trace(net, x)
    expect("jit.trace records nothing of ours", "aten::size" not in str(traced.graph), traced.graph)
    scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2)).to(DEVICE))
    expect("jit.script works", scripted(torch.ones(1, 2, device=DEVICE)).shape == (1, 2))
    graph = torch.fx.symbolic_trace(net.features).graph
    calls = [node.op for node in graph.nodes]
    expect("fx traces nothing of ours", calls == ["placeholder", "call_module", "call_module", "output"], calls)
    exported = torch.export.export(copy.deepcopy(net), (x,))
    expect("export works", torch.allclose(exported.module()(x), net(x), atol=1e-3))
    function = torch.jit.script(square_and_go_back)
    expect("TorchScript knows torch.autograd.backward", function(torch.ones(2, requires_grad=True)).item() == 2)


@group
def cuda_graphs(torch):
    recorder = record(torch)
    net, x = make_net(torch)
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            expected = net(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = net(x)
        graph.replay()
        torch.cuda.synchronize()
    expect("a model is captured into a CUDA graph", torch.allclose(result, expected, atol=1e-3))
    expect("no range is left open by capturing", recorder.depth() == 0, recorder.depth())


@group
def loaders(torch):
    recorder = record(torch)
    make_net(torch)
    data = torch.utils.data.TensorDataset(torch.arange(32).float())
    for method in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2, multiprocessing_context=method)
        total = sum(batch[0].sum().item() for batch in loader)
        expect(f"a data loader with workers ({method}) works", total == 496, total)
    iterator = torch.utils.data.dataloader._BaseDataLoaderIter.__next__
    expect("PyTorch marks its data loader", "record_function" in iterator.__code__.co_names, iterator.__code__.co_names)
    expect("PyTorch marks its optimizers", hasattr(torch.optim.Optimizer, "profile_hook_step"))
    expect("this process still emits", is_emitting(torch))
    expect("no range is left open", recorder.depth() == 0, recorder.depth())


@group
def facts(torch):
    recorder = record(torch)

    def judge():
        found = recorder.facts()
        sure = {
            "version": torch.__version__,
            "cuda.version": torch.version.cuda,
            "amp": "true",
            "amp.dtype": "torch.bfloat16",
            "anomaly_mode": "true",
            "gradcheck": "true",
            "gradgradcheck": "false",
            "autograd_profile": "false",
            "cudnn.benchmark": "true",
            "cudnn.benchmark_set": "true",
            "batch_size": "4",
            "cudnn.version": str(torch.backends.cudnn.version()),
            "gpus.visible": str(torch.cuda.device_count()),
        }
        for name, value in sure.items():
            expect(f"fact {name}", found.get(name) == value, f"{found.get(name)!r}, not {value!r}")
        sizes = [int(found.get(f"memory.0.{name}", 0)) for name in ("allocated_peak", "reserved_peak", "free_at_peak", "total")]
        expect("memory facts are in order", 0 < sizes[0] <= sizes[1] < sizes[3] and 0 < sizes[2] < sizes[3], sizes)

    _at_the_very_end.append(judge)
    net, x = make_net(torch)
    torch.backends.cudnn.benchmark = True
    with torch.autocast("cuda", dtype=torch.bfloat16):
        net(x)
    with torch.autograd.detect_anomaly(check_nan=False):
        net(x).sum().backward()
    torch.autograd.gradcheck(lambda a: a * 2, torch.ones(2, dtype=torch.double, requires_grad=True))


@group
def range_texts(torch):
    library = ctypes.CDLL(RANGE_TEXTS)
    seen = (ctypes.c_long * 4)()
    net, x = make_net(torch)
    for _ in range(3):
        net(x).sum().backward()
    torch.cat([x, x]).split(3)
    torch.ones((), device=DEVICE).expand(2, 0, 7).sum((0, 1))
    library.range_texts_seen(seen)
    same, different, incomparable, inputs = seen
    expect("PyTorch has its texts of shapes made by who is loaded before it", same > 50 and incomparable == 0, list(seen))
    expect("and those of inputs' ids", inputs > 50, list(seen))
    expect("dlkprof's are those that PyTorch makes", different == 0, list(seen))
    info(f"texts of shapes compared: {same}")


@group
def cost(torch):
    """Figures alone: one process is no measure of a difference. part_emission.py judges what this mode costs."""
    net, x = make_net(torch)
    emission = sys.modules["dlkprof._pytorch"]._instance

    def seconds():
        best = float("inf")
        for _ in range(30):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(20):
                net(x).sum().backward()
            torch.cuda.synchronize()
            best = min(best, (time.perf_counter() - begin) / 20)
        return best

    with_all = seconds()
    emission.is_live = False
    emission_only = seconds()
    emission._emission.stop()
    nothing = seconds()
    info(
        f"forward and backward of 5 modules: {nothing * 1e6:.0f} us bare, {emission_only * 1e6:.0f} us with ranges of ops, "
        f"{with_all * 1e6:.0f} us with modules and phases too ({(with_all - emission_only) / 5 * 1e6:.1f} us a module)"
    )


TRAINING = """
import torch
torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 10)).cuda()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(5):
    optimizer.zero_grad()
    loss = net(torch.randn(4, 3, 8, 8).cuda()).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
"""


def compare_results():
    """In the parent: the same training with and without ours, byte by byte."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", TRAINING],
            env={**environment(asked), "CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        for asked in ("pytorch", None)
    ]
    outputs = [(run.returncode, run.stdout, run.stderr) for run in runs]
    same = outputs[0] == outputs[1] and runs[0].returncode == 0
    return expect("results, stdout, stderr and exit code are the same", same, outputs)


_at_the_very_end = []  # run after dlkprof's own end: registered before torch is imported


def environment(asked="pytorch,fast-range-texts"):
    path = os.pathsep.join(filter(None, (str(INJECT), os.environ.get("PYTHONPATH"))))
    kept = {name: value for name, value in os.environ.items() if name != "DLKPROF_PYTHON"}
    return {**kept, "PYTHONPATH": path, **({"DLKPROF_PYTHON": asked} if asked else {})}


def run_child(name):
    atexit.register(lambda: [judge() for judge in _at_the_very_end])
    if name == range_texts.__name__:
        ctypes.CDLL(RANGE_TEXTS, mode=ctypes.RTLD_GLOBAL)
    import torch

    globals()["torch"] = torch
    GROUPS[name](torch)


def run_group(name):
    """Whether all expectations of a group held."""
    try:
        child = subprocess.run(
            [sys.executable, __file__, "--child", name],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return expect(f"{name}: ended", False, error)
    print(child.stdout, end="")
    said = [line for line in child.stderr.splitlines() if line.startswith("dlkprof:")]
    ended = expect(f"{name}: ended well and dlkprof had nothing to say", child.returncode == 0 and not said, child.stderr[-2000:])
    return ended and not any(line.startswith("FAIL ") for line in child.stdout.splitlines())


def main(names):
    held = [compare_results() if name == RESULTS else run_group(name) for name in names or (*GROUPS, RESULTS)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
