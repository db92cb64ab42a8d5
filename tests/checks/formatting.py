#!/usr/bin/env python3
"""Checks that clang-format leaves every C++ and CUDA file as it is: formatting.py <source folder>."""

import subprocess
import sys

import repository

TOOL = "clang-format-16"  # versions differ in what they do


def main(root):
    paths = repository.files(root, "*.cpp", "*.h", "*.cu")
    return subprocess.run([TOOL, "--dry-run", "--Werror", *map(str, paths)], cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
