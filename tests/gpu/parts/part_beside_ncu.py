"""Programs as users write them under the default options and under ncu: time, memory, and whose bytes of DRAM are right.

ncu measures one launch of each configuration, as the default options do, with its set basic. Sampling at full speed
disturbs nothing, so its bytes of DRAM are what the other two are held against."""

import statistics
import sys

from configuration_figures import in_samples, in_windows, of_launches
from harness import Skipped, check, is_asked_for
from tools import PROGRAMS
from training_loops import run_watched

PART = "beside_ncu"

LIMIT = 200
NCU_LIMIT = 300
TIMES = 10  # as much as dlkprof that ncu is to add to the time of a program
MEMORY_PAIRS = 3
MOST_BYTES = 300 << 20  # of host memory beyond that of the program alone
SAMPLES = 100  # of a configuration, for its bytes to be known
LEAST_NS = 10_000  # the kernels compared are no shorter
APART = 10.0  # per cent, in the median
PROGRAM_WORDS = {"resnet50": ("resnet50.py", "60"), "llama": ("llama.py", "60")}
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
RATE = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
COMPARED = (READ, WRITTEN, RATE)
EACH_ONCE = ("--filter-mode", "per-launch-config", "-c", "1")
LEAST = {READ: 1e6, WRITTEN: 1e6, RATE: 5.0}  # what is nearly nothing has no share that says anything


def run(bench):
    if not bench.has_torch(PART, "PyTorch programs"):
        return
    for name in PROGRAM_WORDS:
        if is_asked_for(f"{name}_time"):
            with bench.board.case(PART, f"{name}: time added, and by ncu --set basic") as row:
                row.detail = time_verdict(bench, name)
        if is_asked_for(f"{name}_memory"):
            with bench.board.case(PART, f"{name}: memory of the process") as row:
                row.detail = memory_verdict(bench, name)
    if is_asked_for("llama_dram"):
        with bench.board.case(PART, "llama: bytes of DRAM in windows, sampled, and of ncu") as row:
            row.detail = dram_verdict(bench)


def program(name, steps=None):
    words = PROGRAM_WORDS[name]
    return [sys.executable, PROGRAMS / words[0], steps or words[1]]


def ncu_words(bench, what):
    if bench.ncu.program is None:
        raise Skipped("ncu is not on PATH")
    return [bench.ncu.program, *what, "--clock-control", "none", *EACH_ONCE]


def time_verdict(bench, name):
    words = program(name)
    alone, ours = (done.seconds for done in bench.alone_and_profiled(f"beside_{name}", (), words, LIMIT))
    done = bench.commands.run(f"beside_{name}.ncu", [*ncu_words(bench, ("--set", "basic")), *words], timeout=NCU_LIMIT)
    if b"==ERROR==" in done.stdout:
        raise Skipped("ncu measures nothing here")
    added, theirs = ours - alone, done.seconds - alone
    detail = (
        f"{alone:.1f} s alone, {added:+.1f} s; ncu {theirs:+.1f} s{' until it was stopped' if done.timed_out else ''}: "
        f"{theirs / max(added, 0.1):.1f} times as much"
    )
    check(done.timed_out or done.code == 0, f"ncu ended with {done.code}")
    check(theirs >= TIMES * added, f"{detail}; limit {TIMES}")
    return detail


def memory_verdict(bench, name):
    more = []
    for pair in range(MEMORY_PAIRS):
        base = f"memory_{name}_{pair}"
        alone = run_watched(
            bench, f"{base}.alone", program(name, "40"), lambda log, watched: bench.commands.run(log, watched, timeout=LIMIT)
        )
        ours = run_watched(
            bench, base, program(name, "40"), lambda log, watched: bench.dlkprof.profile(log, (), watched, timeout=LIMIT)
        )
        more.append(ours.peak_bytes - alone.peak_bytes)
    words = (
        f"{statistics.median(more) / 1e6:+.0f} MB ({min(more) / 1e6:+.0f} to {max(more) / 1e6:+.0f}, n {MEMORY_PAIRS} pairs of "
        "processes; most resident at any time)"
    )
    check(statistics.median(more) <= MOST_BYTES, f"{words}; limit {MOST_BYTES / 1e6:.0f} MB")
    return words


def dram_verdict(bench):
    base = "beside_llama_dram"
    bench.dlkprof.profile(f"{base}_windows", (), program("llama"), timeout=LIMIT).require_success()
    bench.dlkprof.profile(
        f"{base}_sampled", ("--replay-mode", "sample"), program("llama", "600"), timeout=LIMIT
    ).require_success()
    windows = in_windows(bench.dlkprof.captures / f"{base}_windows_dldb.sqlite")
    sampled = in_samples(bench.dlkprof.captures / f"{base}_sampled_dldb.sqlite", SAMPLES, LEAST_NS)
    theirs = of_launches(bench.ncu.launches(base, COMPARED, EACH_ONCE, program("llama", "3"), timeout=NCU_LIMIT), COMPARED)
    lines = [
        f"{sum(len(one) for one in windows.values())} figures in windows, {len(sampled)} configurations with {SAMPLES} samples"
    ]
    lines += [words_of(metric, sampled, windows, theirs) for metric in COMPARED]
    middle = [median_apart(metric, sampled, windows) for metric in COMPARED]
    check(max(middle) <= APART, f"{'; '.join(lines)}; limit {APART:.0f} %")
    return "; ".join(lines)


def apart(metric, sampled, others):
    """Per cent of the sampled figure, of every configuration that both have."""
    return [
        100 * (others[key][metric] / held[metric] - 1)
        for key, held in sampled.items()
        if held.get(metric, 0) >= LEAST[metric] and (others.get(key) or {}).get(metric) is not None
    ]


def median_apart(metric, sampled, others):
    values = apart(metric, sampled, others)
    check(values, f"no configuration has {metric} both sampled and in windows")
    return statistics.median(map(abs, values))


def words_of(metric, sampled, windows, theirs):
    words = []
    for whose, others in (("windows", windows), ("ncu", theirs)):
        values = apart(metric, sampled, others)
        words.append(
            f"{whose} {statistics.median(map(abs, values)):.1f} % from sampled ({min(values):+.0f} to {max(values):+.0f}, "
            f"n {len(values)}, {sum(abs(one) > APART for one in values)} beyond {APART:.0f})"
            if values
            else f"{whose}: none"
        )
    return f"{metric}: " + ", ".join(words)
