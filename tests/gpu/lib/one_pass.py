"""Metrics that dlkprof counts together in one pass, as its own --dry-run tells: a launch is then run once, and nothing restored."""

import re
import subprocess

from harness import check

LIMIT = 30  # seconds, to be told


def groups_of(program, metrics):
    """Groups of them that need a pass each, and those that need several even alone. `program`: of dlkprof."""
    chip, alone = ask(program, metrics)
    check(set(alone) == set(metrics), f"--dry-run says nothing of {', '.join(sorted(set(metrics) - set(alone)))}")
    groups = []
    for metric in metrics:
        if alone[metric] > 1:
            continue
        group = next((group for group in groups if passes(program, chip, [*group, metric]) == 1), None)
        if group is None:
            groups.append([metric])
        else:
            group.append(metric)
    return groups, [metric for metric in metrics if alone[metric] > 1]


def ask(program, metrics):
    """The chip, and how many passes each of the metrics needs alone."""
    text = dry_run(program, metrics)
    alone = {match[1]: int(match[2]) for match in re.finditer(r"^(\S+__\S+) .* (\d+)$", text, re.MULTILINE)}
    return found(r"^Chip +(\S+)", text), alone


def passes(program, chip, metrics):
    return int(found(r"^Metrics .* in (\d+) pass", dry_run(program, metrics, "--chip", chip)))


def dry_run(program, metrics, *more):
    """Not logged, as it is asked hundreds of times."""
    words = [str(program), "--dry-run", "--replay-mode", "kernel", "--metrics", ",".join(metrics), *more]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    check(done.returncode == 0, f"--dry-run ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout


def found(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    check(match, f"--dry-run prints no {pattern}")
    return match[1]
