#!/usr/bin/env python3
"""Checks that clang-format leaves every C++ and CUDA file as it is, and black every one of Python: formatting.py <source folder>."""

import subprocess
import sys

import repository

CLANG_FORMAT = "clang-format-16"  # versions differ in what they do
BLACK_YEAR = "23"  # those of other years too; as in pyproject.toml


def cpp_differs(root):
    paths = repository.files(root, "*.cpp", "*.h", "*.cu")
    differs = subprocess.run([CLANG_FORMAT, "--dry-run", "--Werror", *map(str, paths)], cwd=root, check=False).returncode
    if differs:
        print(f"`{CLANG_FORMAT} -i <file>` formats a file.")
    return differs


def python_differs(root):
    version = subprocess.run(["black", "--version"], capture_output=True, text=True, check=True).stdout
    if not version.startswith(f"black, {BLACK_YEAR}."):
        print(f"Python's formatting is not checked: that takes black of 20{BLACK_YEAR}, and this is {version}")
        return 0
    differs = subprocess.run(["black", "--check", "--quiet", "--diff", "--workers=2", "."], cwd=root, check=False).returncode
    if differs:
        print("`black .` formats all files of Python.")
    return differs


if __name__ == "__main__":
    sys.exit(cpp_differs(sys.argv[1]) or python_differs(sys.argv[1]))
