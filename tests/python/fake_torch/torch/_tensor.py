"""Tensors with a shape and no values. An op is a range while emission is on for its thread, as in PyTorch."""

from . import _C


def op(name):
    if _C.thread.profiler == "NVTX":
        _C.log(f"push {name}")
        _C.log("pop")


class Tensor:
    def __init__(self, *shape, is_cuda=False):
        self._shape = shape
        self.is_cuda = is_cuda

    @property
    def shape(self):
        if not _C.DisableTorchFunction.active:
            _C.questions.append("shape")
        return self._shape

    def dim(self):
        return len(self._shape)

    def cuda(self):
        from . import cuda

        cuda._lazy_init()
        op("aten::to")
        return Tensor(*self._shape, is_cuda=True)

    def backward(self):
        from . import autograd

        autograd.backward(self)


def ones(*shape):
    return Tensor(*shape)
