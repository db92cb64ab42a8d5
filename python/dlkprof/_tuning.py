"""Ranges around autotuning: what Triton and Inductor launch there to find the fastest of several kernels is no step of the program.

The functions that launch are looked up by name when their modules are imported; what a version does not have is not covered.
"""

import functools
import threading
import types

from ._import_hooks import after_import

MESSAGE = "dlkprof:autotuning"  # src/model/timeline/autotuning.h
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
    """push() and pop() open and close a range on the calling thread; is_live() says whether anybody is to know."""

    def __init__(self, is_live, push, pop):
        self._is_live = is_live
        self._push = push
        self._pop = pop
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
            opened = self._enter()
            try:
                return function(*args, **kwargs)
            finally:
                if opened:
                    self._leave()

        return autotune

    def _enter(self):
        """Whether a range was opened: the outermost alone has one."""
        if self._thread.open or not self._is_live():
            return False
        try:
            self._push(MESSAGE)
        except Exception:  # nobody hears it: then trials are taken for steps
            return False
        self._thread.open = True
        return True

    def _leave(self):
        self._thread.open = False
        try:
            self._pop()
        except Exception:
            pass


class _Thread(threading.local):
    open = False
