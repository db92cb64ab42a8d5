#!/usr/bin/env python3
"""Whether every relative link in the Markdown of the repository leads somewhere: links.py <source folder>. Exits 1, naming each."""

import os
import pathlib
import re
import sys

import repository

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(```|~~~).*?^\1$", re.MULTILINE | re.DOTALL)


def anchors(text):
    """Those of the headings of a page, as GitHub and Python-Markdown's toc make them of plain words."""
    found = []
    for heading in re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"`|\*|\]\([^)]*\)", "", heading)).strip().lower()
        found.append(re.sub(r"\s", "-", words))
    return found


def find_faults(path, text, read):
    """`read` gives the text of a file of the repository, "" where it is no Markdown, None where there is no such file."""
    for target in LINK.findall(re.sub(r"`[^`]*`", "", FENCED.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        where = os.path.normpath(path.parent / file) if file else str(path)
        there = text if not file else read(where)
        if there is None:
            yield f"{path}: {target}: there is no {where}"
        elif anchor and anchor not in anchors(there):
            yield f"{path}: {target}: {where} has no heading {anchor}"


def main(root):
    def read(name):
        file = root / name
        return file.read_text(encoding="utf-8") if file.suffix == ".md" and file.is_file() else "" if file.exists() else None

    pages = repository.files(root, "*.md")
    faults = [fault for path in pages for fault in find_faults(path, read(path), read)]
    print("\n".join(faults) if faults else f"The links of {len(pages)} pages lead somewhere.")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
