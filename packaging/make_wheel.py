#!/usr/bin/env python3
"""Makes a wheel of an installation: make_wheel.py <installation> <version> <folder>. Prints the path of the wheel.

A wheel installs what it has in <name>.data/scripts and <name>.data/data under the prefix of the environment (PEP 491), where bin/,
lib/ and share/ keep the places that they have to each other. It holds the command `dlkprof` and the module `dlkprof` (once more in
share/, where profiled programs find it), no headers and no CMake files.
"""

import platform
import sys
from pathlib import Path

try:
    from wheel.wheelfile import WheelFile
except ImportError:
    sys.exit(
        f"make_wheel.py: {sys.executable} has no package wheel\n  Install it (Debian: python3-wheel), or run another Python."
    )

LEFT_OUT = ("include/", "share/cmake/")
METADATA = """Metadata-Version: 2.1
Name: dlkprof
Version: {version}
Summary: Kernel-level metrics profiler for deep learning on NVIDIA GPUs
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == 'pandas'
Provides-Extra: dask
Requires-Dist: distributed; extra == 'dask'
Description-Content-Type: text/markdown

{description}"""
WHEEL = """Wheel-Version: 1.0
Generator: dlkprof
Root-Is-Purelib: false
Tag: {tag}
"""


def tag():
    """Binaries, no extension module: any Python 3; glibc as that of the machine it was built on (PEP 600)."""
    major, minor = platform.libc_ver()[1].split(".")[:2]
    return f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"


def place(path, data):
    """Where a file of the installation goes in the wheel; None where it is left out."""
    if path.startswith(LEFT_OUT):
        return None
    return f"{data}/scripts/{path[4:]}" if path.startswith("bin/") else f"{data}/data/{path}"


def main(installation, version, folder):
    root, name = Path(installation), f"dlkprof-{version}"
    readme = next(root.glob("share/doc/*/README.md"))
    texts = {
        "METADATA": METADATA.format(version=version, description=readme.read_text()),
        "WHEEL": WHEEL.format(tag=tag()),
    }
    target = Path(folder) / f"{name}-{tag()}.whl"
    target.unlink(missing_ok=True)
    with WheelFile(target, "w") as wheel:
        for file in sorted(path for path in root.rglob("*") if path.is_file()):
            to = place(file.relative_to(root).as_posix(), f"{name}.data")
            if to:
                wheel.write(file, to)
        for file in sorted((root / "share/dlkprof/python/dlkprof").glob("*.py")):
            wheel.write(file, f"dlkprof/{file.name}")
        for name_of_text, text in texts.items():
            wheel.writestr(f"{name}.dist-info/{name_of_text}", text)
    print(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
