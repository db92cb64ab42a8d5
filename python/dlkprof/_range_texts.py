"""Has PyTorch take our functions for the texts of shapes in its ranges, where dlkprof is who reads them.

src/pytorch/range_texts.h says how, and why nothing happens where PyTorch's functions are not as they are expected.
"""

import os

# In share/dlkprof/python/dlkprof of an installation; in a build folder python/ is a link, which is not to be followed.
_LIBRARY = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../../lib/libdlkprof_pytorch.so"))


def take_over():
    """Called before PyTorch is loaded. Without the library, as beside the sources, all is as without us; OSError where it cannot
    be opened."""
    if os.path.exists(_LIBRARY):
        import ctypes  # as torch does

        ctypes.CDLL(_LIBRARY, mode=ctypes.RTLD_GLOBAL)
