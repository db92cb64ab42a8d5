"""One line on stderr when something here fails, and never a second: the program's output is its own."""

import os
import sys

_said = False


def complain(what, error):
    """Says once what is missing from the profile, and why."""
    global _said
    asked = [word.strip() for word in os.environ.get("DLKPROF_PYTHON", "").split(",")]
    if _said or "quiet" in asked or sys.stderr is None:
        return
    _said = True
    try:
        words = " ".join(str(error).split())  # one line, whatever the exception holds
        # Past sys.stderr, which would keep what a full disk did not take, and fail again when Python ends.
        os.write(2, f"dlkprof: {what}: {type(error).__name__}: {words}\n".encode("utf-8", "replace"))
    except Exception:  # a closed stderr, an exception whose str() fails: then it stays unsaid
        pass
