from .. import _C, cuda
from . import _disable_profiler, _enable_profiler


class ProfilerState:
    NVTX = "NVTX"
    KINETO = "KINETO"


if _C.at_least(1, 12):

    class _ExperimentalConfig:
        pass


if _C.at_least(2, 1):
    _is_profiler_enabled = False


class ProfilerConfig:
    def __init__(self, state, report_input_shapes, *flags):
        if len(flags) != (5 if _C.at_least(1, 12) else 4):
            raise TypeError("__init__(): incompatible constructor arguments.")
        self.state = state
        self.report_input_shapes = report_input_shapes


def _flags():
    return (False,) * 4 + (_ExperimentalConfig(),)


def _set_enabled(enabled):
    if _C.at_least(2, 1):
        globals()["_is_profiler_enabled"] = enabled


class emit_nvtx:
    _state = ProfilerState.NVTX

    def __init__(self, enabled=True, record_shapes=False):
        self.record_shapes = record_shapes

    def __enter__(self):
        cuda.synchronize()
        _set_enabled(True)
        _enable_profiler(ProfilerConfig(self._state, self.record_shapes, *_flags()), set())
        return self

    def __exit__(self, *_):
        cuda.synchronize()
        self.results = _disable_profiler()
        _set_enabled(False)


class profile(emit_nvtx):
    _state = ProfilerState.KINETO
