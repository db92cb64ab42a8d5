"""Programs on two GPUs, as their users write them, under the default options: they print the same and end, and all but collectives
is measured."""

import sys

from harness import CheckFailed, Skipped, check, is_asked_for
from part_coverage import coverage, timed
from part_nccl import RANKS, require_gpus, torchrun
from tools import PROGRAMS

PART = "several_gpus"

LIMIT = 150  # seconds a run; what takes longer counts as a hang
LEAST = 99.0  # per cent of the GPU time of steady iterations, without collectives
OF_RANKS = {"ddp": "ddp_resnet50.py", "ddp_graphs": "ddp_graphs.py", "fsdp": "fsdp_llama.py"}
OF_ONE_PROCESS = {"data_parallel": "data_parallel.py", "pipeline": "pipeline.py", "jax_sharded": "jax_sharded.py"}


def run(bench):
    try:
        bench.require_torch()
        require_gpus(bench)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "programs on two GPUs", reason)
        return
    for name, program in {**OF_RANKS, **OF_ONE_PROCESS}.items():
        if is_asked_for(name):
            with bench.board.case(PART, name) as row:
                ranks = name in OF_RANKS
                words = torchrun(PROGRAMS / program) if ranks else [sys.executable, PROGRAMS / program]
                row.detail = judge(bench, name, words, ranks)


def judge(bench, name, words, ranks):
    base = f"gpus_{name}"
    alone, seconds_alone = timed(lambda: bench.commands.run(f"{base}.alone", words, timeout=LIMIT))
    done, seconds = timed(lambda: bench.dlkprof.profile(base, (), words, timeout=LIMIT))
    check(done.stdout == alone.stdout, "the program printed something else")
    shares = [asked for _, asked, _ in coverage(bench.dlkprof.captures / f"{base}_dldb.sqlite", often=False, graphs=True)]
    detail = (
        f"{' and '.join(f'{share:.1f}' for share in shares)} % measured, collectives aside; {seconds_alone:.1f} s alone, "
        f"{seconds - seconds_alone:+.1f} s"
    )
    check(len(shares) == (RANKS if ranks else 1) and min(shares) >= LEAST, detail)
    return detail
