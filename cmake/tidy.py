"""Calls clang-tidy as CMake does, `tidy.py clang-tidy <options> <source> -- <compiler> <arguments>`, unless it found the same source
clean before: a clean run leaves its hash beside what ccache keeps, of the preprocessed source, the options and the checks."""

import hashlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
KEPT = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dlkprof-tidy"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def hash_of(tidy, source, compiler):
    """The same wherever the project lies. Comments go into it, as NOLINT is one, and so do includes and macros that nobody uses."""
    found = hashlib.sha256(repr([tidy[1:], [word for word in compiler if "/" not in word]]).encode())
    found.update(output(tidy[0], "--version") + output(tidy[0], "--dump-config", source))
    written = compiler.index("-o")  # what it would write
    text = output(*compiler[:written], *compiler[written + 2 :], "-E", "-CC", "-P", "-dD", "-dI")
    found.update(text.replace(os.fsencode(ROOT), b""))
    return found.hexdigest()


def main(command):
    end = command.index("--")
    clean = KEPT / hash_of(command[: end - 1], command[end - 1], command[end + 1 :])
    if clean.exists():
        return 0
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE)
    sys.stdout.buffer.write(done.stdout)
    if done.returncode == 0 and not done.stdout.strip():
        KEPT.mkdir(parents=True, exist_ok=True)
        clean.touch()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
