#!/usr/bin/env python3
"""Whether ctest runs every test class of tests/e2e and tests/python: listed.py <source folder>. Exits 1, naming those that it does not."""

import ast
import pathlib
import re
import sys

import repository

FOLDERS = ("tests/e2e", "tests/python")


def find_classes(text):
    """The classes of a module that have tests."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(one, ast.FunctionDef) and one.name.startswith("test_") for one in node.body
        ):
            yield node.name


def find_faults(listing, modules):
    """`listing`: a CMakeLists.txt, with a call <function>(<module> ... <class>...) for each; `modules`: the content of each module by its path."""
    listed = {
        (words.split()[0], word)
        for words in re.findall(r"^ *dlkprof_\w+\((\w[^)]*)\)", listing, re.MULTILINE)
        for word in words.split()
    }
    for path, text in modules.items():
        for name in find_classes(text):
            if (path.stem.removeprefix("test_"), name) not in listed:
                yield f"{path}: no test of ctest runs {name}"


def main(root):
    faults, count = [], 0
    for folder in FOLDERS:
        modules = {
            path: (root / path).read_text() for path in repository.files(root, f"{folder}/**/test_*.py", f"{folder}/test_*.py")
        }
        count += len(modules)
        faults += find_faults((root / folder / "CMakeLists.txt").read_text(), modules)
    print("\n".join(faults) if faults else f"The test classes of {count} modules are run.")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
