"""The files of the repository."""

import pathlib
import subprocess


def files(root, *patterns):
    """Paths of the files that git tracks, or would if they were added; relative to `root`."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    listed = subprocess.run([*command, "--exclude-standard", "--", *patterns], check=True, capture_output=True, text=True)
    paths = [pathlib.Path(name) for name in listed.stdout.split("\0") if name]
    return [path for path in paths if (pathlib.Path(root) / path).is_file()]
