"""Whether dlkprof and PyTorch's own profiler saw the same: launches, the op of each, and GPU time."""

import collections
import dataclasses
import difflib

from harness import check

GPU_TIME_LIMIT = 0.02  # of PyTorch's total
SHOWN = 4  # differences that are told


@dataclasses.dataclass(frozen=True)
class Seen:
    """A kernel launch as one of the two tells it."""

    kernel: str  # without white space, in which demanglers differ
    op: str  # innermost aten op
    gpu_ns: int


def seen_by_dlkprof(works):
    return [Seen(_plain(work.kernel), innermost_aten(work), work.gpu_ns) for work in works if work.kind == "kernel"]


def seen_by_torch(works, whole_names):
    """`whole_names`: C++ names by machine-code names, which the trace has where they are long."""
    return [
        Seen(_plain(whole_names.get(work.kernel, work.kernel)), work.op, work.gpu_ns) for work in works if work.kind == "kernel"
    ]


def innermost_aten(work):
    """The name of the innermost range of an aten op around the launch; empty: none."""
    names = (message.split(", ", 1)[0] for message in work.messages)
    return next((name for name in names if name.startswith("aten::")), "")


def _plain(name):
    return "".join(name.split())


def compare(torch, ours):
    """The detail of a case; CheckFailed where they do not agree."""
    words = [f"{len(ours)} launches, PyTorch's profiler {len(torch)}"]
    counts = count_differences(torch, ours)
    misplaced, unpaired = op_differences(torch, ours)
    torch_ns, our_ns = (sum(one.gpu_ns for one in seen) for seen in (torch, ours))
    ratio = our_ns / torch_ns if torch_ns else float("inf")
    words.append(f"kernels launched differently often {len(counts)}{_first(counts)}")
    words.append(f"launches without a partner in order {len(unpaired)}{_first(unpaired)}")
    words.append(f"in another op {len(misplaced)}{_first(misplaced)}")
    words.append(f"GPU time {our_ns / 1e6:.3f} ms, {ratio:.4f} of PyTorch's {torch_ns / 1e6:.3f} ms")
    agree = bool(ours) and not counts and not misplaced and not unpaired and abs(ratio - 1) <= GPU_TIME_LIMIT
    check(agree, "; ".join(words) + f"; limit of GPU time {GPU_TIME_LIMIT:.0%}")
    return "; ".join(words)


def count_differences(torch, ours):
    """Kernels of which one saw more launches, in words."""
    theirs, mine = (collections.Counter(one.kernel for one in seen) for seen in (torch, ours))
    return [
        f"{_short(kernel)}: {mine[kernel]}, PyTorch {theirs[kernel]}"
        for kernel in sorted(theirs | mine)
        if theirs[kernel] != mine[kernel]
    ]


def op_differences(torch, ours):
    """(launches that have another op in each, launches that only one has at that place in the order), in words."""
    matcher = difflib.SequenceMatcher(None, [one.kernel for one in torch], [one.kernel for one in ours], autojunk=False)
    misplaced, unpaired = [], []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag != "equal":
            unpaired += [f"PyTorch {i + n}: {_short(one.kernel)}" for n, one in enumerate(torch[i:i_end])]
            unpaired += [f"dlkprof {j + n}: {_short(one.kernel)}" for n, one in enumerate(ours[j:j_end])]
            continue
        for position, (their, our) in enumerate(zip(torch[i:i_end], ours[j:j_end]), i):
            if their.op != our.op:
                misplaced.append(f"{position}: {_short(our.kernel)} in {our.op or 'none'}, PyTorch {their.op or 'none'}")
    return misplaced, unpaired


def _short(name):
    return name if len(name) <= 60 else f"{name[:57]}..."


def _first(words):
    return f" ({'; '.join(words[:SHOWN])}{'; ...' if len(words) > SHOWN else ''})" if words else ""
