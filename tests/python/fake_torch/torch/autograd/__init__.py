import threading

from .. import _C
from .._tensor import op


def _profiler_enabled():
    return _C.thread.profiler is not None


def _enable_profiler(config, activities):
    if "profiler" in _C.FAULTS:
        raise RuntimeError("Can't use NVTX profiler - PyTorch was compiled without CUDA")
    if _C.thread.profiler is not None:
        raise RuntimeError("Profiler is already enabled on this thread.")
    _C.thread.profiler = config.state
    _C.log(f"enable {config.state} shapes={config.report_input_shapes}")


def _disable_profiler():
    if _C.thread.profiler is None:
        raise RuntimeError("Can't disable Kineto profiler when it's not running")
    _C.log(f"disable {_C.thread.profiler}")
    _C.thread.profiler = None
    return "results"


def backward(tensors):
    """On a thread of autograd's own, which is handed the state of the calling thread."""
    if tensors == "bad":
        raise RuntimeError("element 0 of tensors does not require grad")
    profiler = _C.thread.profiler

    def run():
        _C.thread.profiler = profiler
        _C.thread.graph_task = 0
        op("MulBackward0, seq = 1")
        for hook in backward.recompute:
            hook()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


backward.recompute = []


def gradcheck(function, inputs):
    return True


def gradgradcheck(function, inputs):
    return True


class detect_anomaly:
    def __enter__(self):
        _C.anomaly = True

    def __exit__(self, *_):
        _C.anomaly = False


from . import profiler  # noqa: E402, F401
