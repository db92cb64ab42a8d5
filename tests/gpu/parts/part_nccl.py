"""Two ranks with a GPU each, and NCCL between them: nothing hangs, and collectives are measured where that is asked for."""

import sys

from harness import CheckFailed, Skipped, check, is_asked_for
from tools import PROBES

PART = "nccl"

RANKS = 2
ITERATIONS = 400
LIMIT = 90  # seconds a run; what takes longer counts as a hang
# Replay mode, metric set, and whether collectives are to be measured: replays would hang, and auto takes no risk.
WAYS = (("iteration", "quick", True), ("iteration", "basic", True), ("kernel", "quick", False), ("auto", "quick", False))
GRAPH_WAYS = ("auto", "iteration", "sample")  # of the program whose iterations are CUDA graphs that hold the reduction


def run(bench):
    try:
        bench.require_torch()
        require_gpus(bench)
        alone = bench.commands.run("nccl_alone", program(), timeout=LIMIT).require_success()
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "DistributedDataParallel", reason)
        return
    for mode, metric_set, collectives in WAYS:
        if is_asked_for(f"{mode}_{metric_set}"):
            with bench.board.case(PART, f"--replay-mode {mode} --set {metric_set}") as row:
                row.detail = profile(bench, mode, metric_set, collectives, alone)
    if is_asked_for("sample"):
        with bench.board.case(PART, "--replay-mode sample: each rank samples its GPU") as row:
            row.detail = sampled(bench, alone)
    if is_asked_for("ranks"):
        with bench.board.case(PART, "--ranks 1") as row:
            row.detail = one_rank(bench, alone)
    in_graphs(bench)
    if is_asked_for("ncu"):
        bench.board.figure(PART, "ncu on the same program", ncu_words(bench, alone))


def in_graphs(bench):
    modes = [mode for mode in GRAPH_WAYS if is_asked_for(f"graph_{mode}")]
    if not modes:
        return
    command = program("ddp_graph_probe.py")
    try:
        alone = bench.commands.run("nccl_graph_alone", command, timeout=LIMIT).require_success()
    except CheckFailed as reason:
        bench.board.skip(PART, "the reduction in a CUDA graph", reason)
        return
    for mode in modes:
        with bench.board.case(PART, f"the reduction in a CUDA graph, --replay-mode {mode}") as row:
            captures, seconds = captures_of(bench, f"nccl_graph_{mode}", ("--replay-mode", mode), alone, command=command)
            words_of = sampled_words if mode == "sample" else measured_words
            row.detail = words_of(bench, captures) + seconds_words(seconds, alone)


def torchrun(program, *words):
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", program, *words]


def program(probe="ddp_probe.py"):
    return torchrun(PROBES / probe, str(ITERATIONS))


def require_gpus(bench):
    done = bench.commands.run("nccl_gpus", [sys.executable, "-c", "import torch; print(torch.cuda.device_count())"])
    count = done.require_success().stdout.split()[-1].decode()
    if int(count) < RANKS:
        raise Skipped(f"{count} GPU here, {RANKS} are needed")


def captures_of(bench, name, options, alone, ranks=RANKS, command=None):
    """(captures, seconds) of a run that printed what it prints alone."""
    done = bench.dlkprof.profile(name, options, command or program(), timeout=LIMIT).require_success()
    check(sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines()), "stdout differs")
    captures = sorted(bench.dlkprof.captures.glob(f"{name}*.dlkcap"))
    check(len(captures) == ranks, f"{len(captures)} captures of {ranks} ranks")
    return captures, done.seconds


def measured_words(bench, captures, collectives=None):
    """`collectives`: whether each rank has to have measured some of NCCL's launches, or none."""
    launches = [bench.dlkprof.launches(capture.stem) for capture in captures]
    of_nccl = [sum("nccl" in launch.mangled for launch in of_rank) for of_rank in launches]
    words = f"{joined(map(len, launches))} launches measured, of NCCL {joined(of_nccl)}"
    check(all(launches), words)
    if collectives is not None:
        check(all(of_nccl) if collectives else not any(of_nccl), words)
    return words


def sampled_words(bench, captures):
    counts = [len(bench.dlkprof.sampled_kernels(capture)) for capture in captures]
    words = f"{joined(counts)} kernels with samples"
    check(all(counts), words)
    return words


def joined(counts):
    return " and ".join(map(str, counts))


def seconds_words(seconds, alone):
    return f"; {seconds:.1f} s, {alone.seconds:.1f} s alone"


def profile(bench, mode, metric_set, collectives, alone):
    options = ("--replay-mode", mode, "--set", metric_set, "--samples", "1", "--timeline", "off")
    captures, seconds = captures_of(bench, f"nccl_{mode}_{metric_set}", options, alone)
    return measured_words(bench, captures, collectives) + seconds_words(seconds, alone)


def sampled(bench, alone):
    captures, seconds = captures_of(bench, "nccl_sample", ("--replay-mode", "sample"), alone)
    return sampled_words(bench, captures) + seconds_words(seconds, alone)


def one_rank(bench, alone):
    options = ("--ranks", "1", "--replay-mode", "iteration", "--set", "quick", "--samples", "1", "--timeline", "off")
    (capture,), seconds = captures_of(bench, "nccl_ranks", options, alone, ranks=1)
    launches = bench.dlkprof.launches(capture.stem)
    check(launches, "nothing was measured")
    return f"one capture, {len(launches)} launches measured" + seconds_words(seconds, alone)


def ncu_words(bench, alone):
    """What becomes of ncu: it may hang, and then is stopped."""
    if bench.ncu.program is None:
        return "ncu is not on PATH"
    command = [*bench.ncu.command(["gpu__time_duration.sum", "dram__bytes.sum"], ("--target-processes", "all")), *program()]
    done = bench.commands.run("nccl_ncu", command, timeout=LIMIT)
    if done.timed_out:
        return f"stopped after {done.seconds:.0f} s, without an end ({alone.seconds:.1f} s alone)"
    return f"ended with {done.code} after {done.seconds:.1f} s ({alone.seconds:.1f} s alone)"
