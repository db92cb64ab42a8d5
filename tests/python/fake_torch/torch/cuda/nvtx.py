import os

from .. import _C

_heard = int(os.environ.get("FAKE_NVTX_HEARD", "1000000"))  # ranges, until the tool hears only what marks a step


def range_push(msg):
    global _heard
    if "push" in _C.FAULTS:
        raise RuntimeError("NVTX functions not installed")
    _C.log(f"push {msg}")
    _heard -= 1
    return 0 if _heard >= 0 or msg.startswith("Optimizer.step#") else -2


def range_pop():
    _C.log("pop")


def range_start(msg):
    if "push" in _C.FAULTS:
        raise RuntimeError("NVTX functions not installed")
    _C.log(f"start {msg}")
    return 7


def range_end(range_id):
    _C.log(f"end {range_id}")


def mark(msg):
    if "mark" in _C.FAULTS:
        raise RuntimeError("NVTX functions not installed")
    _C.log(f"mark {msg}")
