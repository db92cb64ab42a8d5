"""A profiled program prints and returns what it does alone, byte for byte."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

from harness import Skipped, check

PART = "identical"
ALLOCATIONS = ("malloc", "async", "vmm", "mapped")
CACHES = ("none", "all")
EVERY_LAUNCH = ("--replay-mode", "kernel", "--samples", "all")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    program: tuple
    options: tuple = ()
    least_measured: int = 1  # fewer, and being identical would prove nothing

    @property
    def native_name(self):
        return "_".join(str(word).rsplit("/", 1)[-1] for word in self.program)


def cuda_cases(bench):
    plain = ("copy", "gemm_tiled", "bank_conflict", "register_limited", "tensor_core", "divergent")
    cases = [Case(name, tuple(bench.sample(name))) for name in plain]
    cases.append(Case("launches", tuple(bench.sample("launches")), EVERY_LAUNCH, 9))
    cases.append(Case("crash_modes", tuple(bench.sample("crash_modes")), EVERY_LAUNCH, 3))
    for kind in ALLOCATIONS:
        for caches in CACHES:
            options = (*EVERY_LAUNCH, "--cache-control", caches)
            program = tuple(bench.sample("inplace_add", "--alloc", kind))
            cases.append(Case(f"inplace_add {kind}, cache control {caches}", program, options, 12))
    return cases


def cifar10_cases(bench):
    def case(batch_size):
        program = bench.cifar10("--batch_size", str(batch_size), "--iters", "3", "--print_every", "1")
        return Case(f"cifar10.py batch {batch_size}", tuple(program), (), 20)

    return [case(4), case(512)]


def run(bench):
    cases = cuda_cases(bench)
    try:
        bench.require_torch()
        cases += cifar10_cases(bench)
    except Skipped as reason:
        bench.board.skip(PART, "cifar10.py", reason)
    alone = run_alone(bench, cases)
    for case in cases:
        with bench.board.case(PART, case.name) as row:
            row.detail = compare(bench, case, alone)


def run_alone(bench, cases):
    """Every distinct program without a profiler, several at a time; name -> future."""
    programs = {case.native_name: case.program for case in cases}
    with ThreadPoolExecutor(max_workers=4) as pool:
        return {name: pool.submit(bench.commands.run, f"alone_{name}", program) for name, program in programs.items()}


def compare(bench, case, alone):
    native = alone[case.native_name].result().require_success()
    name = f"identical_{case.name}".replace(" ", "_").replace(",", "")
    done = bench.dlkprof.profile(name, ("--set", "basic", *case.options), case.program, timeout=90)
    check(not done.timed_out, f"stopped after {done.seconds:.0f} s")
    check(done.code == native.code, f"exit code {done.code}, alone {native.code}: {last_line(done.stderr)}")
    check(done.stdout == native.stdout, f"stdout differs: {first_difference(native.stdout, done.stdout)}")
    measured = len(bench.dlkprof.launches(name))
    check(measured >= case.least_measured, f"identical, but {measured} launches measured of {case.least_measured} at least")
    return f"stdout and exit code identical, {measured} launches measured"


def first_difference(expected, got):
    expected, got = expected.splitlines(), got.splitlines()
    for number, (one, other) in enumerate(zip(expected, got), 1):
        if one != other:
            return f"line {number}: {other[:60]!r}, alone {one[:60]!r}"
    return f"{len(got)} lines, alone {len(expected)}"


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]
