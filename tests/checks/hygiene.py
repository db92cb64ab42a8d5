#!/usr/bin/env python3
"""What does not belong into a repository: hygiene.py <source folder>. Exits 1, naming each."""

import pathlib
import re
import sys

import repository

MAX_BYTES = 3 << 20
MAX_SOURCE_LINES = 600
# A machine that somebody worked on; captures and other binary files can hold such paths too.
MACHINE_PATH = re.compile(rb"(?<![\w.-])/(?:work|root|home)/[A-Za-z0-9_.][A-Za-z0-9_./-]*")
# Halved, so that this file passes its own check.
UNFINISHED = re.compile(rb"\b(?:TO" + rb"DO|FIX" + rb"ME)\b")


def find_faults(path, content):
    """What is wrong with a file of this name and content."""
    if len(content) > MAX_BYTES:
        yield f"{path}: {len(content)} bytes, more than {MAX_BYTES}"
    if path.parts[0] == "src" and content.count(b"\n") > MAX_SOURCE_LINES:
        yield f"{path}: more than {MAX_SOURCE_LINES} lines"
    for number, line in enumerate(content.splitlines(), 1):
        if match := MACHINE_PATH.search(line):
            yield f"{path}:{number}: the path of a machine: {match[0].decode()}"
        if b"\0" not in content and UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.decode(errors='replace').strip()}"


def main(root):
    paths = repository.files(root)
    faults = [fault for path in paths for fault in find_faults(path, (root / path).read_bytes())]
    print("\n".join(faults) if faults else f"{len(paths)} files are clean.")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
