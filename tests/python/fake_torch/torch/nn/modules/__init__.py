from . import module  # noqa: F401
from ..._tensor import Tensor, op
from .module import Module


class Linear(Module):
    def forward(self, x):
        op("aten::linear")
        return Tensor(*x._shape)


class ReLU(Module):
    def forward(self, x):
        op("aten::relu")
        return Tensor(*x._shape)


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        for index, part in enumerate(modules):
            self._modules[str(index)] = part

    def forward(self, x):
        for part in self._modules.values():
            x = part(x)
        return x
