import threading
import traceback

from .. import _C
from . import nvtx  # noqa: F401

_initialized = False
_initialization_lock = threading.Lock()
_tls = threading.local()
_queued_calls = []
_bad_fork = False
_GIB = 1 << 30


class DeferredCudaCallError(Exception):
    pass


def is_initialized():
    return _initialized and not _bad_fork


def _lazy_call(callable, **kwargs):
    with _initialization_lock:
        if is_initialized():
            callable()
        else:
            _queued_calls.append((callable, traceback.format_stack()))


def _lazy_init():
    global _initialized
    if is_initialized() or hasattr(_tls, "is_initializing"):
        return
    with _initialization_lock:
        if _bad_fork:
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess.")
        _tls.is_initializing = True
        try:
            for call, _ in _queued_calls:
                try:
                    call()
                except Exception as error:
                    raise DeferredCudaCallError(str(error)) from error
        finally:
            del _tls.is_initializing
        _initialized = True


def _after_fork():
    global _bad_fork
    _bad_fork = _initialized


__import__("os").register_at_fork(after_in_child=_after_fork)


def synchronize():
    _lazy_init()
    _C.log("synchronize")


def device_count():
    return 2


def max_memory_reserved(device=None):
    return 3 * _GIB if device == 0 else 0


def memory_reserved(device=None):
    return 2 * _GIB


def max_memory_allocated(device=None):
    return 1 * _GIB


def mem_get_info(device=None):
    if device != 0:
        raise RuntimeError("this would make a context")
    return 70 * _GIB, 80 * _GIB
