"""Kernels that torch.compile made have the module and the Python line that they were written in; trials of autotuning are no steps."""

import re
import sys
import tempfile

import compiled_ops
from harness import check, is_asked_for
from op_database import OpDatabase
from tools import PROGRAMS

PART = "compiled"

LIMIT = 400
LEAST = 95.0  # per cent of the GPU time of compiled code
LAYERS = 8  # of the Llama
OPTIONS = ("--mode=pytorch", "--replay-mode", "none", "--timeline", "on")
LLAMA = (sys.executable, PROGRAMS / "llama.py", "30")
LEFT_OUT = re.compile(r"([\d,]+) launches of autotuning left out")

# Case: the program, and what its environment has.
CASES = {
    "llama": ((*LLAMA, "--compile"), {}),
    "cached": ((*LLAMA, "--compile"), {}),
    "reduce_overhead": ((*LLAMA, "--reduce-overhead"), {}),
    "max_autotune": ((*LLAMA, "--compile"), {"TORCHINDUCTOR_MAX_AUTOTUNE": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}),
}


def run(bench):
    with tempfile.TemporaryDirectory(prefix="dlkprof-inductor-") as cache:
        for name, (words, environment) in CASES.items():
            if not is_asked_for(name):
                continue
            with bench.board.case(PART, name) as row:
                row.detail = judge(bench, name, words, {**environment, "TORCHINDUCTOR_CACHE_DIR": cache})


def judge(bench, name, words, environment):
    """The first case fills the cache that the second one takes from, under the profiler: one without provenance has none to give."""
    base = f"compiled_{name}"
    done = bench.dlkprof.profile(base, OPTIONS, words, timeout=LIMIT, env=environment).require_success()
    alone = bench.commands.run(f"{base}.alone", words, timeout=LIMIT, env=environment).require_success()
    check(done.stdout == alone.stdout, "the program printed something else")
    database = OpDatabase(bench.dlkprof.captures / f"{base}_dldb.sqlite")
    layers = 1 if name == "cached" else LAYERS  # what comes from a cache may not tell layers apart
    detail = f"{judge_works(compiled_ops.read(database), layers)}; {autotuning_of(database)}"
    failure = database.fact("compiled_failure")
    check(failure is None, f"{detail}; the Python part failed: {failure}")
    return detail


def judge_works(works, least_layers):
    compiled = [work for work in works if work.is_compiled]
    check(compiled, "no kernel of compiled code")
    known = compiled_ops.share_of(compiled, lambda work: work.is_known)
    of_backward = compiled_ops.share_of([work for work in compiled if work.direction == "bprop"], lambda work: work.is_known)
    layers = len({match[0] for work in compiled if (match := re.search(r"/layers/(\d+|\*)", work.module))})
    detail = (
        f"{known:.2f} % of the GPU time of compiled code has a module and a line ({of_backward:.2f} % of the backward pass), "
        f"{compiled_ops.share_of(works, lambda work: work.is_known):.2f} % of all; {layers} layers"
    )
    unknown = [work for work in compiled if not work.is_known]
    check(known >= LEAST, f"{detail}; not {compiled_ops.largest(unknown)}")
    check(layers >= least_layers, f"{detail}; {least_layers} are asked for")
    return detail


def autotuning_of(database):
    """What the notes say of trials, which no iteration holds."""
    notes = [row["what"] for row in database.rows("SELECT what FROM notice")]
    found = [match[1] for note in notes if (match := LEFT_OUT.search(note))]
    return f"{found[0]} launches of autotuning" if found else "no launches of autotuning"
