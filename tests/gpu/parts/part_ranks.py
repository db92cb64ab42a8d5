"""Two ranks with NCCL, one of which sleeps before a layer: merge and report name the rank and the layer."""

import json

import part_nccl
from harness import CheckFailed, Skipped, check
from tools import PROGRAMS

PART = "ranks"

LIMIT = 90  # seconds; what takes longer counts as a hang
LATE_RANK, LATE_LAYER = 1, "/2/"  # Late is layer 2 of the model


def run(bench):
    try:
        bench.require_torch()
        part_nccl.require_gpus(bench)
    except (Skipped, CheckFailed) as reason:
        bench.board.skip(PART, "late_rank.py", reason)
        return
    with bench.board.case(PART, "the rank that sleeps is named, with the op") as row:
        row.detail = named(bench)


def named(bench):
    program = part_nccl.torchrun(PROGRAMS / "late_rank.py")
    bench.dlkprof.profile("ranks", ("--mode", "pytorch", "--replay-mode", "none"), program, timeout=LIMIT).require_success()
    captures = sorted(bench.dlkprof.captures.glob("ranks*.dlkcap"))
    job = bench.dlkprof.captures / "ranks_job.sqlite"
    bench.dlkprof.run("ranks_merge", ["merge", *captures, "-o", job, "--force"], timeout=LIMIT).require_success()
    rows = report(bench, job, "stragglers")
    check(rows, "no collective was aligned")
    late = [row for row in rows if row["Last Rank"] == LATE_RANK]
    by_layer = [row for row in late if LATE_LAYER in (row["Late by Op"] or "")]
    findings = report(bench, job, "job_findings")
    words = (
        f"{len(captures)} captures, {len(rows)} collectives, {len(late)} with rank {LATE_RANK} last, {len(by_layer)} of them made "
        f"late by the layer; findings: {[(row['Rule'], row['Rank'], row['Op Name']) for row in findings]}"
    )
    check(any(row["Rank"] == LATE_RANK and LATE_LAYER in (row["Op Name"] or "") for row in findings), words)
    return words


def report(bench, job, name):
    words = ["report", job, "--reports", name, "--format", "json"]
    return json.loads(bench.dlkprof.run(f"ranks_{name}", words, timeout=LIMIT).require_success().stdout)["rows"]
