"""Where in the program's Python a module is called, for --stacks: a suffix of its range, " @ net.py:12 in forward"."""

import os
import sys

_MOST_KNOWN = 10_000  # places; a program that makes code anew in every call goes on without a memory


class CallSites:
    """Looks past frames of PyTorch's and of dlkprof's. Called on any thread."""

    def __init__(self, torch):
        folders = [os.path.dirname(os.path.abspath(file)) for file in (__file__, getattr(torch, "__file__", None) or __file__)]
        self._ours = tuple(folder + os.sep for folder in folders)
        self._known = {}  # (id of the code, instruction) -> (the code, kept so that its id stays its own; the text)

    def suffix(self):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(self._ours):
            frame = frame.f_back
        if frame is None:
            return ""
        code = frame.f_code
        key = id(code), frame.f_lasti
        known = self._known.get(key)
        if known is None:
            known = code, f" @ {code.co_filename}:{frame.f_lineno} in {code.co_name}"
            if len(self._known) < _MOST_KNOWN:
                self._known[key] = known
        return known[1]
