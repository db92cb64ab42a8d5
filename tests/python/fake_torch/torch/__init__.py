"""A stand-in for PyTorch: the names and signatures that dlkprof's Python part uses, and what PyTorch does behind them.

FAKE_TORCH_VERSION says which PyTorch (default 2.11.0); FAKE_TORCH_FAULT what is wrong with it: `import` (it cannot be
imported), `cpu` (built without CUDA), `profiler` (emission cannot be turned on), `mark` (marks fail). Everything that
reaches NVTX, and every profiler turned on or off, is a line of the file FAKE_TORCH_LOG. FAKE_TORCH_LIBRARY is a library that it
opens as Python opens PyTorch's.
"""

import os

__version__ = os.environ.get("FAKE_TORCH_VERSION", "2.11.0")
if "import" in os.environ.get("FAKE_TORCH_FAULT", "").split(","):
    raise ImportError("libcudart.so.13: cannot open shared object file")

if "FAKE_TORCH_LIBRARY" in os.environ:
    import ctypes

    cpu_library = ctypes.CDLL(os.environ["FAKE_TORCH_LIBRARY"])

from . import _C, version  # noqa: E402
from ._tensor import Tensor, ones  # noqa: E402, F401
from . import autograd, backends, cuda, nn  # noqa: E402, F401


class autocast:
    def __init__(self, device_type, dtype="torch.float16"):
        self._dtype = dtype

    def __enter__(self):
        _C.autocast_dtype = self._dtype

    def __exit__(self, *_):
        _C.autocast_dtype = None


def is_autocast_enabled():
    return _C.autocast_dtype is not None


def get_autocast_dtype(device_type):
    return _C.autocast_dtype


def is_anomaly_enabled():
    return _C.anomaly


if _C.at_least(2, 0):

    def compile(model):  # what runs compiled has been traced once, its hooks with it
        def compiled(*args):
            _C.compiling = True
            try:
                return model(*args)
            finally:
                _C.compiling = False

        return compiled


if _C.at_least(2, 1):
    from . import compiler  # noqa: F401
