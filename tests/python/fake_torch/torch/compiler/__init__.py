from .. import _C


def is_compiling():
    return _C.compiling
