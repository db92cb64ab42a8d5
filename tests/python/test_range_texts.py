"""PyTorch's functions for texts of shapes, and ours: which are called, and whose memory they use. Needs what is built:
RANGE_TEXTS_BUILD is the build folder, where python/ has its libraries beside it, and tests/fakes are built."""

import os
import pathlib
import shutil
import unittest

from harness import FAKE_TORCH, PYTHON, PythonTest

FAST = "pytorch,fast-range-texts"
OURS = "[[4, 3], [], [1234567890123]] []\n"
THEIRS = "own shapes 3 own inputs 2\n"
CALL = "import torch; torch.cpu_library.print_range()\n"
FAIL_ONCE = """
import os
os.environ["FAKE_TORCH_FAULT"] = "import"
try:
    import torch
except ImportError:
    os.environ["FAKE_TORCH_FAULT"] = ""
"""


@unittest.skipUnless("RANGE_TEXTS_BUILD" in os.environ, "needs what is built")
class RangeTextsTest(PythonTest):
    def setUp(self):
        super().setUp()
        build = pathlib.Path(os.environ["RANGE_TEXTS_BUILD"])
        self.installed = build / "share/dlkprof/python"
        self.fakes = build / "fakes"

    def run_fake(self, first_on_path, source, torch_cpu="libtorch_cpu.so", **options):
        path = os.pathsep.join(map(str, (first_on_path, FAKE_TORCH)))
        return self.run_script(source, PYTHONPATH=path, FAKE_TORCH_LIBRARY=str(self.fakes / torch_cpu), **options)

    def output(self, *arguments, **options):
        done = self.run_fake(*arguments, **options)
        self.assert_clean(done)
        return done.stdout

    def test_ours_where_that_is_asked_for(self):
        self.assertEqual(self.output(self.installed / "inject", CALL, asked=FAST), OURS)
        self.assertEqual(self.output(self.installed / "inject", FAIL_ONCE + CALL, asked=FAST), OURS)

    def test_pytorchs_own_where_it_is_not(self):
        self.assertEqual(self.output(self.installed / "inject", CALL, asked=None), THEIRS)
        self.assertEqual(self.output(self.installed / "inject", CALL, asked="pytorch"), THEIRS)
        self.assertEqual(self.output(self.installed / "inject", CALL, asked="jax"), THEIRS)

    def test_memory_that_is_given_away_is_of_pytorchs_allocator(self):
        allocator = str(self.fakes / "liballocator.so")
        later = f"import torch, ctypes; ctypes.CDLL('{allocator}', mode=ctypes.RTLD_GLOBAL)\n"
        for asked, expected in ((FAST, OURS), (None, THEIRS)):
            inject = self.installed / "inject"
            self.assertEqual(self.output(inject, CALL, asked=asked, LD_PRELOAD=allocator), expected)
            self.assertEqual(self.output(inject, later + CALL, asked=asked), expected)
            self.assertEqual(self.output(inject, CALL, "own_allocator/libtorch_cpu.so", asked=asked), expected)

    def test_pytorchs_own_without_the_library(self):
        self.assertEqual(self.output(PYTHON / "inject", CALL, asked=FAST), THEIRS)

    def test_a_file_that_is_no_library(self):
        shutil.copytree(self.installed, self.folder / "share/dlkprof/python")
        self.write("lib/libdlkprof_pytorch.so", "no library")
        done = self.run_fake(self.folder / "share/dlkprof/python/inject", CALL, asked=FAST)
        self.assertEqual((done.code, done.stdout), (0, THEIRS))
        self.assertRegex(done.stderr, r"\Adlkprof: PyTorch's ranges take more time than they need to: OSError: .*\n\Z")

    def test_pytorchs_own_where_the_program_asks_for_ranges(self):
        """Whoever listens then may want all that PyTorch has to say."""
        self.assertEqual(self.output(self.installed, "import dlkprof; dlkprof.init()\n" + CALL, asked=None), THEIRS)
