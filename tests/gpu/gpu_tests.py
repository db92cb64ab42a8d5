#!/usr/bin/env python3
"""Runs dlkprof on a GPU machine and prints one table of passes, failures and measured figures, last.

    gpu_tests.py INSTALL_DIR OUT_DIR [part...]

INSTALL_DIR holds bin/dlkprof; OUT_DIR receives logs/, captures/, the built samples, results.json, results.md, and of some
parts accuracy.md, iteration_accuracy.md, application_accuracy.md and performance.md. Parts: identical, accuracy, hit_rates,
diagnosis, robust, endings, selection, cost, coverage, beside_ncu, iteration, application, instructions, quick, occupancy, speed,
detaching, layouts, sampling, endurance, shapes, source, overhead, timeline, emission, python, jax, graphs, graph_counters, compiled,
counts, sweep, screen, nccl, several_gpus, ranks, waits, contexts; all of them, in this order, where none is named. Ends with 1 where a case failed, 2 on bad usage.
DLKPROF_TEST_SECONDS (default 560) is the time for everything, and
DLKPROF_TEST_CASES names those cases of parts coverage, beside_ncu, endings, detaching, graphs, graph_counters, compiled,
several_gpus, waits and selection that are to run.
"""

import json
import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / name) for name in ("lib", "parts", "probes")]

import environment
import part_accuracy
import part_application
import part_beside_ncu
import part_compiled
import part_contexts
import part_cost
import part_counts
import part_coverage
import part_detaching
import part_diagnosis
import part_emission
import part_endings
import part_endurance
import part_graph_counters
import part_graphs
import part_hit_rates
import part_identical
import part_instructions
import part_iteration
import part_jax
import part_layouts
import part_nccl
import part_occupancy
import part_overhead
import part_processes
import part_python
import part_quick
import part_ranks
import part_robust
import part_sampling
import part_screen
import part_selection
import part_several_gpus
import part_shapes
import part_source
import part_speed
import part_sweep
import part_timeline
import part_waits
from harness import FAIL, PASS, Commands, Row, Scoreboard, markdown_table, text_table
from tools import Bench, Dlkprof, Ncu

MODULES = (
    part_identical,
    part_accuracy,
    part_hit_rates,
    part_diagnosis,
    part_robust,
    part_endings,
    part_selection,
    part_cost,
    part_coverage,
    part_beside_ncu,
    part_iteration,
    part_application,
    part_processes,
    part_instructions,
    part_quick,
    part_occupancy,
    part_speed,
    part_detaching,
    part_layouts,
    part_sampling,
    part_endurance,
    part_shapes,
    part_source,
    part_overhead,
    part_timeline,
    part_emission,
    part_python,
    part_jax,
    part_graphs,
    part_graph_counters,
    part_compiled,
    part_counts,
    part_sweep,
    part_screen,
    part_nccl,
    part_several_gpus,
    part_ranks,
    part_waits,
    part_contexts,
)
PARTS = {module.PART: module for module in MODULES}
DEFAULT_SECONDS = 560.0
HEADINGS = ("part", "case", "result", "detail")


def main(arguments):
    if len(arguments) < 2 or any(part not in PARTS for part in arguments[2:]):
        print(f"usage: run.sh INSTALL_DIR OUT_DIR [part...]; parts: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    install, out = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    if not os.access(install / "bin" / "dlkprof", os.X_OK):
        print(f"run.sh: no program {install / 'bin' / 'dlkprof'}; give the folder of an installed dlkprof", file=sys.stderr)
        return 2
    bench = make_bench(install, out)
    begin = time.monotonic()
    bench.facts = environment.describe(bench)
    with bench.board.case("build", "samples") as row:
        bench.build_samples()
        row.detail = f"built in {time.monotonic() - begin:.0f} s"
    if bench.board.rows[-1].status == PASS:
        for part in arguments[2:] or PARTS:
            run_part(bench, part)
    write_results(bench, time.monotonic() - begin)
    return 1 if bench.board.failed() else 0


def make_bench(install, out):
    out.mkdir(parents=True, exist_ok=True)
    commands = Commands(out / "logs", float(os.environ.get("DLKPROF_TEST_SECONDS", DEFAULT_SECONDS)))
    board = Scoreboard(lambda line: print(line, file=sys.stderr, flush=True))
    return Bench(board, commands, Dlkprof(install, out / "captures", commands), Ncu(commands), out, out / "programs")


def run_part(bench, part):
    begin = time.monotonic()
    try:
        PARTS[part].run(bench)
    except Exception as error:  # outside of any case: the other parts still run
        bench.board.add(Row(part, "the part itself", FAIL, f"{type(error).__name__}: {error}"))
    bench.board.figure(part, "time taken", f"{time.monotonic() - begin:.0f} s")


def write_results(bench, seconds):
    rows = [(row.part, row.case, row.status, row.detail) for row in bench.board.rows]
    counts = ", ".join(f"{count} {status}" for status, count in bench.board.counts().items())
    closing = f"{counts}; {seconds:.0f} s"
    (bench.out / "results.json").write_text(
        json.dumps(
            {"environment": dict(bench.facts), "seconds": seconds, "results": [dict(zip(HEADINGS, row)) for row in rows]},
            indent=1,
        )
        + "\n"
    )
    (bench.out / "results.md").write_text(
        "\n\n".join(
            [
                "# Tests on a GPU",
                "Written by `tests/gpu/run.sh`.",
                markdown_table(("what", "value"), bench.facts),
                markdown_table(HEADINGS, rows),
                closing,
            ]
        )
        + "\n"
    )
    print("\n".join(f"{what}: {value}" for what, value in bench.facts))
    print(f"\n{text_table(HEADINGS, rows)}\n\n{closing}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
