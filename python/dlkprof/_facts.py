"""What PyTorch says of itself, told to the profiler as NVTX marks `dlkprof:fact: pytorch <name> <value>`.

A later mark of the same name replaces the earlier one: what is known at first is told at first, so that a program that is
killed has told it, and what changes is told again at the end.
"""

import collections
import functools
import os
import platform

_MOST_SIZES = 1000  # distinct batch sizes counted; more are no batch sizes


def _harmless(method):
    """A fact that cannot be had is missing, which is all there is to say of it."""

    @functools.wraps(method)
    def harmless(self, *args):
        try:
            method(self, *args)
        except Exception:
            pass

    return harmless


class Facts:
    """Gathers facts, and tells them once the process uses CUDA. What PyTorch raises when asked goes no further."""

    def __init__(self, torch, mark):
        self._torch = torch
        self._mark = mark
        self._values = {}  # name -> text, as last gathered
        self._told = {}  # as last told
        self._live = False
        self._sizes = collections.Counter()
        self.amp_seen = False  # public: asked on each module call, where a call of a method would cost
        self._benchmark_at_start = self._benchmark()

    def set(self, name, value):
        self._values[name] = _text(value)
        if self._live:
            self._tell()

    def start(self):
        """Called when the process is about to use CUDA for real: tells what is known by then."""
        self._gather(self._constants)
        self._gather(self._settings)
        self._live = True
        self._tell()

    def finish(self):
        """Called when the program has ended, while CUDA is still there."""
        self._gather(self._settings)
        self._gather(self._memory)
        self._live = True
        self._tell()

    @_harmless
    def sample(self):
        """Called on each module call from outside: settings that a program turns on and off again."""
        if self._torch.is_anomaly_enabled() and self._values.get("anomaly_mode") != "true":
            self.set("anomaly_mode", True)
        if self._values.get("cudnn.benchmark_set") != "true" and self._benchmark() != self._benchmark_at_start:
            self.set("cudnn.benchmark_set", True)

    @_harmless
    def see_amp(self):
        """Called while autocast is on."""
        self.amp_seen = True
        self.set("amp", True)
        if hasattr(self._torch, "get_autocast_dtype"):
            self.set("amp.dtype", self._torch.get_autocast_dtype("cuda"))
        elif hasattr(self._torch, "get_autocast_gpu_dtype"):
            self.set("amp.dtype", self._torch.get_autocast_gpu_dtype())

    @_harmless
    def see_arguments(self, arguments, keywords):
        """Called with what a module was called with from outside."""
        size = _batch_size(self._torch, (arguments, keywords))
        if size is None or (size not in self._sizes and len(self._sizes) == _MOST_SIZES):
            return
        self._sizes[size] += 1
        if "batch_size" not in self._values:
            self.set("batch_size", size)

    @_harmless
    def _gather(self, source):
        for name, value in source():
            self._values[name] = _text(value)

    def _tell(self):
        for name, value in list(self._values.items()):  # another thread may add to them
            if self._told.get(name) != value:
                self._told[name] = value
                self._mark(f"dlkprof:fact: pytorch {name} {value}")

    def _constants(self):
        torch = self._torch
        yield "version", torch.__version__
        yield "python.version", platform.python_version()
        yield "cuda.version", torch.version.cuda
        yield "gpus.visible", torch.cuda.device_count()
        for name in ("amp", "anomaly_mode", "gradcheck", "gradgradcheck", "autograd_profile", "cudnn.benchmark_set"):
            yield name, self._values.get(name, False)
        yield "cudnn.version", torch.backends.cudnn.version()

    def _settings(self):
        yield "cudnn.benchmark", self._benchmark()
        if self._benchmark() != self._benchmark_at_start:
            yield "cudnn.benchmark_set", True
        if self._sizes:
            yield "batch_size", max(self._sizes, key=lambda size: (self._sizes[size], size))
        yield from self._ranks()

    def _ranks(self):
        distributed = getattr(self._torch, "distributed", None)
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            yield "world_size", distributed.get_world_size()
            yield "rank", distributed.get_rank()
        else:
            yield from (
                (name.lower(), os.environ[name])
                for name in ("WORLD_SIZE", "RANK")
                if name in os.environ and name.lower() not in self._values
            )  # a process group that has ended has said it better

    def _memory(self):
        """Of devices that this process took memory on; asking others would make a context there. In bytes."""
        cuda = self._torch.cuda
        if not cuda.is_initialized():
            return
        for device in range(cuda.device_count()):
            reserved_peak = cuda.max_memory_reserved(device)
            if reserved_peak == 0:
                continue
            free, total = cuda.mem_get_info(device)
            yield f"memory.{device}.total", total
            yield f"memory.{device}.free", free
            yield f"memory.{device}.reserved_peak", reserved_peak
            yield f"memory.{device}.allocated_peak", cuda.max_memory_allocated(device)
            yield f"memory.{device}.free_at_peak", max(0, free + cuda.memory_reserved(device) - reserved_peak)

    def _benchmark(self):
        return bool(self._torch.backends.cudnn.benchmark)


def _text(value):
    """On one line: true and false as in json."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(text.split())


def _batch_size(torch, values):
    """First dimension of the first tensor in tuples, lists and dicts; None where there is none.

    Exact types only: a proxy of a tracer records what is asked of it, and any other subclass may run code.
    """
    if torch._C._get_tracing_state() is not None:
        return None  # the trace would hold our question
    tensor = _first_tensor(torch.Tensor, values, depth=4)
    if tensor is None:
        return None
    with torch._C.DisableTorchFunction():  # modes of the program's shall not see our question
        size = tensor.shape[0] if tensor.dim() > 0 else None
    return size if type(size) is int else None


def _first_tensor(tensor_type, value, depth):
    if type(value) is tensor_type:
        return value
    if depth == 0 or type(value) not in (tuple, list, dict):
        return None
    for part in value.values() if type(value) is dict else value:
        found = _first_tensor(tensor_type, part, depth - 1)
        if found is not None:
            return found
    return None
