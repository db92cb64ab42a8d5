#!/usr/bin/env python3
"""Whether docs/ is a site without faults, small enough, and spelled right: docs.py <source folder>. Needs mkdocs and codespell."""

import pathlib
import re
import subprocess
import sys
import tempfile

import repository

MAX_BYTES = 160 * 1024
PICTURES = {".webp", ".svg", ".png"}
# Times of day and what runs printed belong into results/.
RUN_LOG = re.compile(r"\b\d\d:\d\d UTC\b")


def find_faults(pages):
    """`pages`: the content of each file of docs/ by its path, pictures left out."""
    size = sum(map(len, pages.values()))
    if size > MAX_BYTES:
        largest = sorted(pages, key=lambda path: -len(pages[path]))[:5]
        named = ", ".join(f"{path} ({len(pages[path])})" for path in largest)
        yield f"docs/ has {size} bytes: cut {size - MAX_BYTES} that say less than what you added. The largest pages are {named}"
    for path, content in pages.items():
        for number, line in enumerate(content.decode().splitlines(), 1):
            if RUN_LOG.search(line):
                yield f"{path}:{number}: a time of day belongs into results/"


def run(root, *command):
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return [f"{command[0]} is missing: apt-get install {command[0]}"]
    return [] if done.returncode == 0 else [(done.stdout + done.stderr).strip() or f"{command[0]} ended with {done.returncode}"]


def main(root):
    pages = {path: (root / path).read_bytes() for path in repository.files(root, "docs/") if path.suffix not in PICTURES}
    texts = [str(path) for path in repository.files(root) if path.suffix in {".md", ".cpp", ".h", ".py", ".ts", ".sh", ".json"}]
    faults = list(find_faults(pages)) + run(root, "codespell", *texts)
    with tempfile.TemporaryDirectory() as site:
        faults += run(root, "mkdocs", "--quiet", "build", "--strict", "--site-dir", site)
    print(
        "\n".join(faults) if faults else f"{len(pages)} files, {sum(map(len, pages.values()))} bytes, are a site without faults."
    )
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
