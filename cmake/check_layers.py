#!/usr/bin/env python3
"""Checks that includes run downward only: check_layers.py <source folder>.

Prints file:line of every include that runs back or aside, and exits 1 where there is one. What each layer may
include stands in LAYERS below. Also checks that x.cpp includes x.h before all else: compiling it then
shows that x.h stands on its own.
"""

import pathlib
import re
import sys

LAYERS = {
    "base": set(),
    "capture": {"base"},
    "cupti": {"base", "capture"},
    "select": {"base", "capture"},
    "inject": {"base", "capture", "cupti", "select"},
    "pytorch": set(),
    "model": {"base", "capture", "cupti"},
    "store": {"base", "model"},
    "advise": {"base", "model"},
    "report": {"base", "capture", "cupti", "model", "advise"},
    "job": {"base", "capture", "model", "store", "advise", "report"},
    "export": {"base", "capture", "model", "store", "advise", "report"},
    "view": {"base", "capture", "cupti", "model", "store", "advise", "report"},
    "cli": {"base", "capture", "cupti", "select", "model", "store", "advise", "report", "job", "export", "view"},
}
PUBLIC = "dlkprof"  # include/dlkprof: for everybody, and knowing nobody
# Slow to compile, so kept out of every header.
HEAVY = re.compile(r"(nlohmann|CLI)/|sqlite3\.h")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def find_fault(layer, is_header, quote, target):
    """What is wrong with one include, or None."""
    if quote == "<":
        if is_header and HEAVY.match(target):
            return f"<{target}> is kept to .cpp files"
        return None
    above, slash, _ = target.partition("/")
    if not slash:
        return f'"{target}" is to be named with its layer'
    if above in (layer, PUBLIC):
        return None
    if above not in LAYERS:
        return f'"{target}" is of no layer'
    if above not in LAYERS.get(layer, set()):
        return f'{layer} may not include "{target}"'
    return None


def check_file(path, layer, folder=None):
    """Faults of one file of the layer that lies in `folder`; by default that in which the file lies."""
    header = path.with_suffix(".h")
    own = f"{layer}/{header.relative_to(folder or path.parent)}" if path.suffix == ".cpp" and header.exists() else None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            if own and match[2] != own:
                yield f'{path}:{number}: "{own}" is to be included first'
            own = None
            if fault := find_fault(layer, path.suffix == ".h", *match.groups()):
                yield f"{path}:{number}: {fault}"


def check_tree(root):
    """All faults under <root>/src and <root>/include/dlkprof."""
    folders = [(folder, folder.name) for folder in sorted((root / "src").iterdir()) if folder.is_dir()]
    for folder, layer in [(root / "include" / PUBLIC, PUBLIC), *folders]:
        if layer != PUBLIC and layer not in LAYERS:
            yield f"{folder}:1: a layer that {pathlib.Path(__file__).name} does not know"
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cpp", ".in"):
                yield from check_file(path, layer, folder)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    faults = list(check_tree(pathlib.Path(arguments[0])))
    print("\n".join(faults) if faults else "Includes run downward only.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
