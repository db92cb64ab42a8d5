"""What machine the figures were taken on."""

import datetime
import re
from pathlib import Path

from harness import Skipped

GPU_FIELDS = ("name", "driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem")


def describe(bench):
    """Rows of (what, value); 'unknown' where a tool does not say."""
    return [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        *gpu_rows(bench),
        ("CPU", answer(bench, ["cat", "/proc/cpuinfo"], r"^model name\s*: (.+)$")),
        ("CUDA (nvcc)", answer(bench, ["nvcc", "--version"], r"release [\d.]+, V([\d.]+)")),
        ("Nsight Compute", answer(bench, ["ncu", "--version"], r"Version ([\d.]+)")),
        ("PyTorch", torch_version(bench)),
        ("dlkprof", answer(bench, [bench.dlkprof.program, "--version"], r"(\d[\w.+-]*)")),
    ]


def torch_version(bench):
    try:
        return bench.require_torch()
    except Skipped as reason:
        return f"none: {reason}"


def gpu_rows(bench):
    text = answer(bench, ["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader"], r"^(.+)$")
    values = [value.strip() for value in text.split(",")]
    if len(values) != len(GPU_FIELDS):
        return [("GPU", text)]
    name, driver, sm, memory, sm_most, memory_most = values
    return [
        ("GPU", name),
        ("driver", driver),
        ("clocks before the first run", f"SM {sm} of {sm_most}, memory {memory} of {memory_most}; never set by these tests"),
    ]


def answer(bench, argv, pattern):
    try:
        done = bench.commands.run(f"ask_{Path(str(argv[0])).name}", argv, timeout=30)
    except OSError:
        return "not found"
    found = re.search(pattern, done.stdout.decode(errors="replace"), re.MULTILINE)
    return found.group(1) if found else "unknown"
