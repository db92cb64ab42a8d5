from . import modules  # noqa: F401
from .modules import Linear, Module, ReLU, Sequential  # noqa: F401
