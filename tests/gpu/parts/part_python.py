"""What the installed Python part does on a real PyTorch: the expectations of python_probe.py."""

import sys
from concurrent.futures import ThreadPoolExecutor

import python_probe
from harness import CheckFailed, check
from tools import PROBES

PART = "python"

ALONE = ("cost",)  # measures time, so nothing else may run
AT_ONCE = 4  # each group is a process of its own, most of whose time is importing PyTorch
SECONDS = 120


def run(bench):
    if not bench.has_torch(PART, "python_probe.py"):
        return
    groups = [*python_probe.GROUPS, python_probe.RESULTS]
    with bench.board.case(PART, "range_texts_probe.cpp") as row:
        row.detail = build(bench)
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        runs = {group: pool.submit(probe, bench, group) for group in groups if group not in ALONE}
    for group in groups:
        with bench.board.case(PART, group) as row:
            row.detail, figures = judge(probe(bench, group) if group in ALONE else runs[group].result())
            for figure in figures:
                bench.board.figure(PART, group, figure)


def range_texts(bench):
    return bench.programs / "librange_texts_probe.so"


def build(bench):
    bench.programs.mkdir(parents=True, exist_ok=True)
    command = [
        "nvcc",
        "-std=c++20",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-o",
        range_texts(bench),
        PROBES / "range_texts_probe.cpp",
        "-ldl",
    ]
    bench.commands.run("build_range_texts", command, timeout=SECONDS).require_success()
    return "built"


def probe(bench, group):
    install = bench.dlkprof.program.parent.parent
    inject = install / "share" / "dlkprof" / "python" / "inject"
    check(inject.is_dir(), f"the installation has no {inject.relative_to(install)}")
    return bench.commands.run(
        f"python_{group}",
        [sys.executable, PROBES / "python_probe.py", group],
        timeout=SECONDS,
        env={"DLKPROF_INJECT": str(inject), "RANGE_TEXTS_PROBE": str(range_texts(bench))},
    )


def judge(done):
    """(detail of a case, figures); CheckFailed with what did not hold."""
    lines = done.stdout.decode(errors="replace").splitlines()
    held = [line[len("PASS ") :] for line in lines if line.startswith("PASS ")]
    failed = [line[len("FAIL ") :] for line in lines if line.startswith("FAIL ")]
    figures = [line[len("INFO ") :] for line in lines if line.startswith("INFO ")]
    check(not failed, f"{len(failed)} of {len(held) + len(failed)} expectations: {'; '.join(failed)}"[:1000])
    done.require_success()
    if not held:
        raise CheckFailed("nothing was expected")
    return f"{len(held)} expectations hold, the last: {held[-1]}", figures
