"""PyTorch's own NVTX ranges around its ops: what torch.autograd.profiler.emit_nvtx turns on, kept on."""

import contextlib
import sys
import threading

_PAIRS = (("_enable_profiler", "_disable_profiler"), ("_enable_profiler_legacy", "_disable_profiler_legacy"))


class Emission:
    """Turns emission on and off, thread by thread, and makes way for the program's own profilers.

    PyTorch keeps a profiler's state per thread. It hands the state of the thread that calls backward() to autograd's
    threads, but not to a thread that the program starts: whoever notices such a thread at work calls ensure() there.

    emit_nvtx itself is not entered, since it waits for the GPU first, which makes a context on the current device:
    in a process that has yet to choose its device, as under torchrun, that would be one too many.
    """

    def __init__(self, torch, record_shapes):
        self._profiler = torch.autograd.profiler
        self._active = torch.autograd._profiler_enabled
        self._enable = self._profiler._enable_profiler
        self._disable = self._profiler._disable_profiler
        self._record_shapes = record_shapes
        self._thread = _ThreadState(self._end)

    def ensure(self):
        """Emission is on for this thread, unless the program has a profiler of its own at work there."""
        if not self._active():
            self._enable(self._configuration(), set())
            self._thread.emission.ours = True
        if self._thread.emission.ours and getattr(self._profiler, "_is_profiler_enabled", None) is False:
            self._profiler._is_profiler_enabled = True  # asked by what marks compiled kernels

    def stop(self):
        """Emission of ours is off for this thread, for good or until ensure()."""
        if self._leave() and getattr(self._profiler, "_is_profiler_enabled", None):
            self._profiler._is_profiler_enabled = False

    def make_way(self, torch, guard, told):
        """From now on ours is off while a profiler of the program is on, which PyTorch would refuse to start beside it.

        told() is called when one has started; guard(function) is what keeps our failures from the program.
        """
        give_way, come_back = guard(self._give_way), guard(self._come_back)
        legacy = sys.modules.get("torch.autograd.profiler_legacy")
        for owner in filter(None, (self._profiler, torch.autograd, legacy)):
            for start, stop in _PAIRS:
                if hasattr(owner, start) and hasattr(owner, stop):
                    setattr(owner, start, _around_start(getattr(owner, start), give_way, come_back, told))
                    setattr(owner, stop, _before_return(getattr(owner, stop), come_back))

    def _give_way(self):
        self._thread.left = self._leave()

    def _come_back(self):
        if self._thread.left:
            self._thread.left = False
            self.ensure()

    def _leave(self):
        if not self._thread.emission.ours:
            return False
        self._thread.emission.ours = False
        self._end()
        return True

    def _end(self):
        if self._active():
            self._disable()

    def _configuration(self):
        """What emit_nvtx asks for; PyTorch before 1.12 has nothing experimental."""
        profiler = self._profiler
        memory = stacks = flops = modules = False
        experimental = (profiler._ExperimentalConfig(),) if hasattr(profiler, "_ExperimentalConfig") else ()
        return profiler.ProfilerConfig(
            profiler.ProfilerState.NVTX, self._record_shapes, memory, stacks, flops, modules, *experimental
        )


class _ThreadState(threading.local):
    left = False  # ours is off for the time of a profiler of the program's

    def __init__(self, end):
        self.emission = _ThreadEmission(end)


class _ThreadEmission:
    """Goes with the state of its thread, on that thread: PyTorch warns of emission that is on when a thread has ended."""

    ours = False  # it was turned on here, and not off since

    def __init__(self, end):
        self._end = end

    def __del__(self):
        if self.ours:
            with contextlib.suppress(Exception):  # at the interpreter's end PyTorch may be gone
                self._end()


def _around_start(start, give_way, come_back, told):
    def start_program_profiler(*args, **kwargs):
        give_way()
        try:
            result = start(*args, **kwargs)
        except BaseException:
            come_back()
            raise
        told()
        return result

    return start_program_profiler


def _before_return(stop, come_back):
    def stop_program_profiler(*args, **kwargs):
        result = stop(*args, **kwargs)
        come_back()
        return result

    return stop_program_profiler
