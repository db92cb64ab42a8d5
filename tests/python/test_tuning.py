"""Autotuning of Triton and Inductor has ranges of its own, on stand-ins for the functions that launch."""

from harness import PythonTest

RANGE = "dlkprof:autotuning"
TRITON = """
from torch.cuda import nvtx

def do_bench(function, warmup=25, *, rep=100):
    "Times a function."
    for _ in range(2):
        nvtx.mark(f"trial {warmup} {rep}")
        function()
    return 1.5
"""
AUTOTUNER = """
from torch.cuda import nvtx
from ..testing import do_bench

class Autotuner:
    def __init__(self, fails=False):
        self.fails = fails
    def _bench(self, config):
        nvtx.mark("bench")
        if self.fails:
            raise ValueError("out of resources")
        return do_bench(lambda: None, warmup=config)
    def run(self):
        best = min([1, 2], key=self._bench)
        nvtx.mark("launch")
        return best
"""
PROGRAM = """
import torch
torch.ones(2).cuda()
from triton.runtime.autotuner import Autotuner
"""


class TuningTest(PythonTest):
    def setUp(self):
        super().setUp()
        for name, source in (("__init__", ""), ("testing", TRITON), ("runtime/__init__", ""), ("runtime/autotuner", AUTOTUNER)):
            self.write(f"triton/{name}.py", source)

    def within(self, done):
        """What reached NVTX, with `*` before what lay in a range of trials, and `+` in one of a benchmark."""
        open_ranges, seen = [], []
        for what in done.log:
            if what == f"start {RANGE}":
                open_ranges.append("*")
            elif what == "end 7":
                open_ranges.remove("*")
            elif what.startswith("push "):
                open_ranges.append("+" if what == f"push {RANGE}" else "")
            elif what == "pop":
                open_ranges.pop()
            elif what.startswith("mark ") and "fact" not in what:
                seen.append("".join(open_ranges) + what[len("mark ") :])
        self.assertEqual(open_ranges, [])
        return seen

    def test_trials_lie_in_one_range_each_and_the_launch_after_them_in_none(self):
        done = self.run_script(PROGRAM + "print(Autotuner().run())")
        self.assert_clean(done)
        self.assertEqual(done.stdout, "1\n")
        trial = ["*bench", "*trial {} 100", "*trial {} 100"]
        self.assertEqual(self.within(done), [line.format(config) for config in (1, 2) for line in trial] + ["launch"])

    def test_a_benchmark_of_the_programs_own(self):
        """It is measured, but for what is tried within."""
        own = "from triton.testing import do_bench\ndo_bench(lambda: Autotuner().run())"
        done = self.run_script(PROGRAM + own)
        self.assert_clean(done)
        tried = [line.format(config) for config in (1, 2) for line in ["+*bench", "+*trial {} 100", "+*trial {} 100"]]
        self.assertEqual(self.within(done), ["+trial 25 100", *tried, "+launch", "+trial 25 100", *tried, "+launch"])

    def test_what_raises_leaves_no_range_open(self):
        done = self.run_script(
            PROGRAM + "try:\n    Autotuner(True).run()\nexcept ValueError as error:\n    print(error)\nAutotuner().run()"
        )
        self.assert_clean(done)
        self.assertEqual(done.stdout, "out of resources\n")
        self.assertEqual(self.within(done)[:2], ["*bench", "*bench"])

    def test_what_is_covered_keeps_its_name(self):
        done = self.run_script(
            PROGRAM + "import inspect, triton.testing as t\nprint(t.do_bench.__doc__, inspect.signature(t.do_bench))"
        )
        self.assertEqual(done.stdout, "Times a function. (function, warmup=25, *, rep=100)\n")

    def test_nothing_is_covered_without_triton_and_without_cuda(self):
        done = self.run_script("import torch\nfrom triton.runtime.autotuner import Autotuner\nAutotuner().run()")
        self.assert_clean(done)
        self.assertNotIn(RANGE, "\n".join(done.log))

    def test_pushes_that_fail_do_not_reach_the_program(self):
        done = self.run_script(PROGRAM + "print(Autotuner().run())", FAKE_TORCH_FAULT="push")
        self.assertEqual((done.code, done.stdout), (0, "1\n"))

    def test_classes_that_inherit_and_static_functions(self):
        self.write(
            "triton/runtime/autotuner.py",
            """
from torch.cuda import nvtx
class Base:
    def _bench(self):
        nvtx.mark("bench")
class Autotuner(Base):
    pass
""",
        )
        done = self.run_script(PROGRAM + "Autotuner()._bench()")
        self.assert_clean(done)
        self.assertEqual(self.within(done), ["bench"])
        self.write("triton/testing.py", "do_bench = 7")
        self.write(
            "triton/runtime/autotuner.py",
            "import triton.testing\nclass Autotuner:\n    @staticmethod\n    def _bench():\n        return 7\n",
        )
        done = self.run_script(PROGRAM + "print(Autotuner._bench(), Autotuner()._bench())")
        self.assertEqual(done.stdout, "7 7\n")
