"""Ranges around autotuning: what Triton and Inductor launch there to find the fastest of several kernels is no step of the program.

The functions that launch are looked up by name when their modules are imported; what a version does not have is not covered.
"""

import functools
import threading
import types

from ._import_hooks import after_import

MESSAGE = "dlkprof:autotuning"  # src/capture/message.h
# Nothing is measured in these, as that would change what is chosen: their ranges are start/end ones.
_TRIALS = {
    "triton.runtime.autotuner": ("Autotuner._bench",),
    "torch._inductor.runtime.benchmarking": (
        "Benchmarker.benchmark", "Benchmarker.benchmark_gpu", "TritonBenchmarker.benchmark_gpu", "InductorBenchmarker.benchmark_gpu",
    ),
    "torch._inductor.runtime.triton_heuristics": (
        "CachingAutotuner.benchmark_all_configs", "CachingAutotuner.coordinate_descent_tuning", "CachingAutotuner.bench",
    ),
}  # fmt: skip
# Of these nobody knows: programs call them too, to time kernels of their own, and want those measured. Theirs are push/pop ones.
_BENCHMARKS = {"triton.testing": ("do_bench", "do_bench_cudagraph")}


class Tuning:
    """`nvtx`: of the process, as torch.cuda.nvtx; is_live() says whether anybody is to know."""

    def __init__(self, is_live, nvtx):
        self._is_live = is_live
        self._nvtx = nvtx
        self._thread = _Thread()

    def install(self):
        for functions, enter in ((_TRIALS, self._enter_trial), (_BENCHMARKS, self._enter_benchmark)):
            for module, names in functions.items():
                after_import(module, functools.partial(self._cover, names, enter))

    def _cover(self, functions, enter, module):
        for path in functions:
            *classes, name = path.split(".")
            owner = module
            for one in classes:
                owner = getattr(owner, one, None)
            function = vars(owner).get(name) if owner is not None else None  # not what a class inherits, which is covered there
            if isinstance(function, types.FunctionType):
                setattr(owner, name, self._around(function, enter))

    def _around(self, function, enter):
        @functools.wraps(function)
        def autotune(*args, **kwargs):
            leave = self._guarded(enter)
            try:
                return function(*args, **kwargs)
            finally:
                if leave is not None:
                    self._guarded(leave)

        return autotune

    def _guarded(self, function):
        """What it gives; None where nobody hears it: then trials are taken for steps."""
        try:
            return function()
        except Exception:
            return None

    # Each gives what closes the range that it opened; None where it opened none, as one is open or nobody is to know.

    def _enter_trial(self):
        if self._thread.in_trial or not self._is_live():
            return None
        number = self._nvtx.range_start(MESSAGE)
        self._thread.in_trial = True
        return functools.partial(self._leave_trial, number)

    def _leave_trial(self, number):
        self._thread.in_trial = False
        self._nvtx.range_end(number)

    def _enter_benchmark(self):
        if self._thread.in_trial or self._thread.in_benchmark or not self._is_live():
            return None
        self._nvtx.range_push(MESSAGE)
        self._thread.in_benchmark = True
        return self._leave_benchmark

    def _leave_benchmark(self):
        self._thread.in_benchmark = False
        self._nvtx.range_pop()


class _Thread(threading.local):
    in_trial = False
    in_benchmark = False
