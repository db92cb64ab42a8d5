"""A JAX program, most of whose work is in CUDA graphs: it prints the same in every mode, and what can be measured is."""

import sys
from pathlib import Path

from harness import CheckFailed, Skipped, check

PART = "jax"

ARGUMENTS = ("--iters", "12000", "--print_every", "2000")  # some seconds: a burst of samples comes every 2 s
LIMIT = 90
SAMPLED = ("--replay-mode", "sample")
# Without --timeline on CUPTI would leave between bursts, until it sees graphs.
WAYS = {
    "none": ("--replay-mode", "none"),
    "sample, CUPTI stays": (*SAMPLED, "--timeline", "on"),
    "sample, in bursts": SAMPLED,
    "iteration": ("--replay-mode", "iteration", "--set", "quick"),
    "auto": ("--replay-mode", "auto", "--set", "quick"),
}


def run(bench):
    try:
        require_jax(bench)
        program = bench.mlp(*ARGUMENTS)
        alone = bench.commands.run("jax_alone", program, timeout=LIMIT).require_success()
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "mlp.py", reason)
        return
    for name, options in WAYS.items():
        with bench.board.case(PART, f"mlp.py: {name}") as row:
            row.detail = profile(bench, name, options, program, alone)


def require_jax(bench):
    done = bench.commands.run("jax", [sys.executable, "-c", "import jax; print(jax.default_backend())"])
    check(done.code == 0, f"{Path(sys.executable).name} has no JAX")
    backend = done.stdout.decode(errors="replace").split()[-1]
    check(backend == "gpu", f"JAX runs on {backend}")


def profile(bench, name, options, program, alone):
    base = f"jax_{name}".replace(", ", "_").replace(" ", "_")
    done = bench.dlkprof.profile(base, options, program, timeout=LIMIT).require_success()
    check(done.stdout == alone.stdout, "stdout differs")
    seen = bench.dlkprof.report(bench.dlkprof.capture(base), "kernel")
    check(seen, "no kernel was seen")
    words = f"{done.seconds:.1f} s, {alone.seconds:.1f} s alone; {len(seen)} rows of kernels"
    if options[:2] != SAMPLED:
        return words
    kernels = bench.dlkprof.sampled_kernels(bench.dlkprof.capture(base))
    check(kernels, f"{words}; nothing was sampled")
    return f"{words}; {len(kernels)} have samples"
