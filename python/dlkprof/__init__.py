"""What a Python program may say to dlkprof. Nothing needs to: `dlkprof --mode=pytorch python train.py` says it all.

A program that is to emit PyTorch's ranges under any tool calls init(), before or after `import torch`. The ranges of
its own that it may add cost nothing while nothing is profiled.
"""

from ._import_hooks import after_import as _after_import
from ._ranges import dataloader, scope, step

__all__ = ["dataloader", "init", "load", "scope", "step"]


def init(record_shapes=True, modules=True, stacks=False):
    """Makes PyTorch emit NVTX ranges from the first use of CUDA on; a second call does nothing.

    record_shapes: the shapes of inputs are part of the ranges, at a cost for each op.
    modules: each call of a torch.nn.Module is a range, named by its attribute path.
    stacks: these ranges say where in the program's Python each call is.
    """

    def install(torch):
        from ._complaint import complain

        try:
            from . import _pytorch

            _pytorch.install(torch, record_shapes, modules, stacks)
        except Exception as error:
            complain("PyTorch's ranges and facts are missing", error)

    _after_import("torch", install)


def load(path, base_name="dlkprof"):
    """A run that was recorded, for analysis: docs/user/python.md. Nothing of it is imported before it is called."""
    from ._load import load

    return load(path, base_name)
