"""Merges the ranks of a job on the workers of Dask Distributed: what `dlkprof merge --engine dask` runs.

Each worker folds captures where it is (`dlkprof merge <capture>... -o <part>`), and the parts are merged, in a tree where there are
many. Nothing but names of files goes through Dask. The result is the same as on one machine, byte by byte, as merging does not depend
on the order. Workers see the files and the folder of the parts, which lies beside the output, under the same names. A worker that
dies has its work done again by another.
"""

import argparse
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LEAVES_PER_WORKER = 8  # enough to share, and to do again where a worker dies; each starts dlkprof, which takes memory and time
MOST_IN_LEAF = 64  # captures, so that a leaf that is lost is not much work
MOST_PARTS = 256  # that are merged at once
WORKERS = 8  # where none has come yet
RETRIES = 3  # of a piece of work whose worker died
LOCAL_WORKERS = 2


def merge(dlkprof, inputs, output):
    """Merges some files into one, under a temporary name first, as the same work may be done twice. Returns (output, said)."""
    present = [name for name in inputs if name is not None]
    if not present:
        return None, []
    temporary = f"{output}.{os.uname().nodename}.{os.getpid()}"
    done = subprocess.run(
        [dlkprof, "merge", "--threads", "1", "--force", "-o", temporary, "--", *present],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if ": wrote " not in line]
    if done.returncode < 0:
        raise RuntimeError(f"{dlkprof} was ended by signal {-done.returncode}")
    if done.returncode != 0:
        return None, said
    os.replace(temporary, output)
    return output, said


def merge_parts(dlkprof, parts, output):
    """The same of results of merge(), with what they said left out: the last step says it of the whole."""
    return merge(dlkprof, [name for name, _ in parts], output)


def plan(client, arguments, folder):
    """Submits the tree; returns the work of the leaves and that of the root."""
    options = {"retries": RETRIES, "pure": False}
    inputs = arguments.inputs
    workers = sum(client.nthreads().values()) or WORKERS
    size = min(MOST_IN_LEAF, -(-len(inputs) // (LEAVES_PER_WORKER * workers)))
    work = [
        client.submit(merge, arguments.dlkprof, inputs[i : i + size], str(folder / f"0_{i}.sqlite"), **options)
        for i in range(0, len(inputs), size)
    ]
    leaves, level = work, 0
    while len(work) > MOST_PARTS:
        level += 1
        work = [
            client.submit(
                merge_parts, arguments.dlkprof, work[i : i + MOST_IN_LEAF], str(folder / f"{level}_{i}.sqlite"), **options
            )
            for i in range(0, len(work), MOST_IN_LEAF)
        ]
    return leaves, work


def say(text):
    print(f"dlkprof: {text}", file=sys.stderr, flush=True)


def follow(leaves):
    """Shows how many are folded, and what was said of those that were left out."""
    from distributed import as_completed  # pylint: disable=import-outside-toplevel

    step = max(1, len(leaves) // 10)
    for done, future in enumerate(as_completed(leaves), 1):
        if done % step == 0 or done == len(leaves):
            say(f"folded {done} of {len(leaves)} parts")
        name, said = future.result()
        told = [line for line in said if name is None or "left out: " in line]
        if told:
            print("\n".join(told), file=sys.stderr, flush=True)


def run(arguments, client_of):
    output = pathlib.Path(arguments.output).absolute()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        with client_of() as client:
            leaves, work = plan(client, arguments, folder)
            follow(leaves)
            parts = [name for name, _ in client.gather(work) if name is not None]
        force = ["--force"] if arguments.force else []
        if not parts:
            say("there is no rank to merge")
            return 1
        return subprocess.run([arguments.dlkprof, "merge", *force, "-o", str(output), "--", *parts], check=False).returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dlkprof", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--scheduler")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("inputs", nargs="+")
    arguments = parser.parse_args()
    try:
        from distributed import Client, LocalCluster  # pylint: disable=import-outside-toplevel
    except ImportError as missing:
        say(f"Dask Distributed is missing ({missing})")
        say(
            "Install it (Debian: apt install python3-distributed; elsewhere: pip install distributed), or leave out --engine dask."
        )
        return 1
    if arguments.scheduler:
        return run(arguments, lambda: Client(arguments.scheduler, timeout="30s"))
    # Workers do nothing but wait for dlkprof: in this process they start in a third of the time. It would speak of connections
    # that it closes itself.
    for name in ("asyncio", "tornado", "distributed"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with LocalCluster(n_workers=LOCAL_WORKERS, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        return run(arguments, lambda: Client(cluster))


if __name__ == "__main__":
    sys.exit(main())
