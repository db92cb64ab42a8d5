#!/usr/bin/env python3
"""Checks what the products export and need: exports.py <dlkprof> <libdlkprof_inject.so> <libdlkprof_pytorch.so>.

The libraries live in other people's processes: the injected one exports its three entry points and nothing else, the other the
two functions that it has in PyTorch's place, by the names that libtorch_cpu.so of PyTorch 2.11 has for them (nm -D). All products
need libc alone, so that they run from any folder, beside any other C++ runtime.
"""

import re
import subprocess
import sys

ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"}
RANGE_TEXTS = {
    "_ZN5torch8profiler4impl11shapesToStrB5cxx11ERKSt6vectorIS2_IlSaIlEESaIS4_EE",
    "_ZN5torch8profiler4impl15inputOpIdsToStrERKNSt7__cxx114listISt4pairImiESaIS5_EEE",
}
LIBC = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def needed(product):
    lines = subprocess.run(["readelf", "-dW", product], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", lines)


def main(program, injected, in_pytorch):
    faults = []
    for library, expected in ((injected, ENTRY_POINTS), (in_pytorch, RANGE_TEXTS)):
        if exported(library) != expected:
            faults.append(f"{library} exports {sorted(exported(library))} instead of {sorted(expected)}")
    for product in (program, injected, in_pytorch):
        others = [name for name in needed(product) if not LIBC.fullmatch(name)]
        if others:
            faults.append(f"{product} needs {', '.join(others)}")
    print("\n".join(faults) if faults else "Exports and needs are as they should be.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
