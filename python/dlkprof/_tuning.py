"""Ranges around autotuning: what Triton and Inductor launch there to find the fastest of several kernels is no step of the program.

The functions that launch are looked up by name when their modules are imported; what a version does not have is not covered.
"""

import functools
import threading
import types

from ._import_hooks import after_import

MESSAGE = "dlkprof:autotuning"  # src/capture/message.h
_FUNCTIONS = {
    "triton.testing": ("do_bench", "do_bench_cudagraph"),
    "triton.runtime.autotuner": ("Autotuner._bench",),
    "torch._inductor.runtime.benchmarking": (
        "Benchmarker.benchmark", "Benchmarker.benchmark_gpu", "TritonBenchmarker.benchmark_gpu", "InductorBenchmarker.benchmark_gpu",
    ),
    "torch._inductor.runtime.triton_heuristics": (
        "CachingAutotuner.benchmark_all_configs", "CachingAutotuner.coordinate_descent_tuning", "CachingAutotuner.bench",
    ),
}  # fmt: skip


class Tuning:
    """start() opens a range and gives its number, which end() closes; is_live() says whether anybody is to know."""

    def __init__(self, is_live, start, end):
        self._is_live = is_live
        self._start = start
        self._end = end
        self._thread = _Thread()

    def install(self):
        for module, functions in _FUNCTIONS.items():
            after_import(module, functools.partial(self._cover, functions))

    def _cover(self, functions, module):
        for path in functions:
            *classes, name = path.split(".")
            owner = module
            for one in classes:
                owner = getattr(owner, one, None)
            function = vars(owner).get(name) if owner is not None else None  # not what a class inherits, which is covered there
            if isinstance(function, types.FunctionType):
                setattr(owner, name, self._around(function))

    def _around(self, function):
        @functools.wraps(function)
        def autotune(*args, **kwargs):
            number = self._enter()
            try:
                return function(*args, **kwargs)
            finally:
                if number is not None:
                    self._leave(number)

        return autotune

    def _enter(self):
        """The number of the range that was opened, or None: the outermost alone has one."""
        if self._thread.open or not self._is_live():
            return None
        try:
            number = self._start(MESSAGE)
        except Exception:  # nobody hears it: then trials are taken for steps
            return None
        self._thread.open = True
        return number

    def _leave(self, number):
        self._thread.open = False
        try:
            self._end(number)
        except Exception:
            pass


class _Thread(threading.local):
    open = False
