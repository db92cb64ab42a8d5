#!/usr/bin/env python3
"""Checks what the products export and need: exports.py <dlkprof> <libdlkprof_inject.so>.

The injected library lives in other people's processes: it exports its two entry points and nothing else, and both
products need libc alone, so that they run from any folder, beside any other C++ runtime.
"""

import re
import subprocess
import sys

EXPORTED = {"InitializeInjection", "InitializeInjectionNvtx2"}
LIBC = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def needed(product):
    lines = subprocess.run(["readelf", "-dW", product], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", lines)


def main(program, library):
    faults = []
    if exported(library) != EXPORTED:
        faults.append(f"{library} exports {sorted(exported(library))} instead of {sorted(EXPORTED)}")
    for product in (program, library):
        others = [name for name in needed(product) if not LIBC.fullmatch(name)]
        if others:
            faults.append(f"{product} needs {', '.join(others)}")
    print("\n".join(faults) if faults else "Exports and needs are as they should be.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
