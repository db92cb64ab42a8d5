"""Programs on two GPUs, as their users write them, under the default options: they print the same and end, and all but collectives
is measured."""

import dataclasses
import sys

from harness import CheckFailed, Skipped, check, is_asked_for
from part_coverage import coverage
from part_nccl import RANKS, require_gpus, torchrun
from tools import PROGRAMS

PART = "several_gpus"

LIMIT = 150  # seconds a run; what takes longer counts as a hang
LEAST = 99.0  # per cent of the GPU time of steady iterations, without collectives


@dataclasses.dataclass
class Case:
    name: str
    program: str
    ranks: bool = True  # a process for each GPU
    options: tuple = ()
    profiled: int = RANKS  # processes


CASES = (
    Case("ddp", "ddp_resnet50.py"),
    Case("ddp_one_rank", "ddp_resnet50.py", options=("--ranks", "0"), profiled=1),
    Case("ddp_graphs", "ddp_graphs.py"),
    Case("fsdp", "fsdp_llama.py"),
    Case("data_parallel", "data_parallel.py", ranks=False, profiled=1),
    Case("pipeline", "pipeline.py", ranks=False, profiled=1),
    Case("jax_sharded", "jax_sharded.py", ranks=False, profiled=1),
)


def run(bench):
    try:
        bench.require_torch()
        require_gpus(bench)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "programs on two GPUs", reason)
        return
    for case in (case for case in CASES if is_asked_for(case.name)):
        with bench.board.case(PART, case.name) as row:
            row.detail = judge(bench, case)


def judge(bench, case):
    program = PROGRAMS / case.program
    words = torchrun(program) if case.ranks else [sys.executable, program]
    base = f"gpus_{case.name}"
    alone, done = bench.alone_and_profiled(base, case.options, words, LIMIT)
    check(done.stdout == alone.stdout, "the program printed something else")
    shares = [asked for _, asked, _ in coverage(bench.dlkprof.captures / f"{base}_dldb.sqlite", often=False, graphs=True)]
    detail = (
        f"{' and '.join(f'{share:.1f}' for share in shares)} % measured, collectives aside; {alone.seconds:.1f} s alone, "
        f"{done.seconds - alone.seconds:+.1f} s"
    )
    check(len(shares) == case.profiled and min(shares) >= LEAST, detail)
    return detail
