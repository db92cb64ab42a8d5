#!/usr/bin/env python3
"""Checks that what is installed runs from any folder: installation.py <build folder> <source folder> <version>.

Installs, moves the installation elsewhere, and runs it from a third folder with a bare environment.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

MAX_BYTES = 40_000_000
PARTS = [
    "bin/dlkprof",
    "lib/libdlkprof_inject.so",
    "lib/libdlkprof_pytorch.so",
    "share/dlkprof/metrics",
    "share/dlkprof/python/dlkprof/__init__.py",
    "share/dlkprof/python/inject/sitecustomize.py",
    "share/doc/dlkprof/LICENSE",
    "share/bash-completion/completions/dlkprof",
    "share/zsh/site-functions/_dlkprof",
    "share/man/man1/dlkprof.1",
]


def find_faults(root, folders):
    """What is wrong with the files of an installation; `folders` may be named in none of them."""
    for part in PARTS:
        if not (root / part).exists():
            yield f"{part} is not installed"
    paths = [path for path in root.rglob("*") if path.is_file()]
    if (size := sum(path.stat().st_size for path in paths)) > MAX_BYTES:
        yield f"{size} bytes are installed, more than {MAX_BYTES}"
    for path in paths:
        content = path.read_bytes()
        for folder in folders:
            if str(folder).encode() in content:
                yield f"{path.relative_to(root)} names {folder}"


def run(root, folder, *arguments):
    """Output of dlkprof; one that fails raises."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        [root / "bin/dlkprof", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"dlkprof {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def find_run_faults(root, folder, version):
    """What is wrong when the installation runs in `folder`."""
    if version not in run(root, folder, "--version"):
        yield f"--version does not say {version}"
    if "basic" not in run(root, folder, "metrics", "--list-sets"):
        yield "metrics --list-sets does not know the set basic"
    verbs = run(root, folder, "help").split("Verbs:\n")[1].split("\n\n")[0].splitlines()
    for page in (f"dlkprof-{line.split()[0]}.1" for line in verbs):
        if not (root / "share/man/man1" / page).exists():
            yield f"{page} is not installed"
    if not run(root, folder, "demo").strip():
        yield "demo prints nothing"
    if left := list(folder.iterdir()):
        yield f"left behind in the working folder: {', '.join(path.name for path in left)}"


def main(build, source, version):
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        command = ["cmake", "--install", build, "--prefix", str(scratch / "first")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        moved, folder = scratch / "moved", scratch / "empty"
        shutil.move(scratch / "first", moved)
        folder.mkdir()
        faults = list(find_faults(moved, [source, scratch / "first"])) + list(find_run_faults(moved, folder, version))
    print("\n".join(faults) if faults else "The installation runs from any folder.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
