"""What was launched waits for what the program does next, so dlkprof must not wait for it for ever: the program ends, and as it
does alone."""

import sys
from pathlib import Path

from harness import CheckFailed, check, is_asked_for

PART = "waits"

LIMIT = 60
PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
WAYS = {name: ("--replay-mode", name) for name in ("none", "kernel", "auto", "iteration", "sample")}
WAYS["source"] = ("--section", "source")
MEASURED = ("kernel", "auto", "iteration")  # launch by launch
# What is not selected is never measured, so that nothing of CUPTI's waits for it.
OPTIONS = {"flag": ("--kernel-id", "::regex:add_one|halve:")}


def run(bench):
    for name, program in programs_of(bench).items():
        if not is_asked_for(name):
            continue
        try:
            alone = bench.commands.run(f"{PART}_{name}", program, timeout=LIMIT).require_success()
        except CheckFailed as reason:
            bench.board.skip(PART, name, reason)
            continue
        for way in WAYS:
            with bench.board.case(PART, f"{name}: {way}") as row:
                row.detail = profile(bench, name, way, program, alone)


def programs_of(bench):
    return {
        **{name: bench.sample("waits_probe", name, "20") for name in ("flag", "host", "thread")},
        "cupy_callbacks": [sys.executable, PROGRAMS / "cupy_callbacks.py", "100"],
    }


def profile(bench, name, way, program, alone):
    options = (*WAYS[way], *OPTIONS.get(name, ()))
    done = bench.dlkprof.profile(f"{PART}_{name}_{way}", options, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, f"stdout differs: {done.stdout[:60]!r}, alone {alone.stdout[:60]!r}")
    measured = bench.dlkprof.launches(f"{PART}_{name}_{way}") if way in MEASURED else []
    waits = "; not made alone any more" if "not made alone any more" in " ".join(done.stderr.split()) else ""
    return f"{done.seconds:.1f} s, {alone.seconds:.1f} s alone; {len(measured)} launches measured{waits}"
