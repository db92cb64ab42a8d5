#!/usr/bin/env python3
"""Whether docs/reference/sections.md has a chapter for each section of metrics/, and no other: sections.py <source folder>."""

import pathlib
import re
import sys


def find_faults(sections, page):
    """`sections`: their names; `page`: the text of the page."""
    chapters = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    yield from (f"section {name} has no chapter" for name in sections if not chapters.get(name, "").strip())
    yield from (f"chapter {name} is of no section" for name in chapters if name not in sections)


def main(root):
    sections = sorted(path.stem for path in (root / "metrics/sections").glob("*.json"))
    faults = list(find_faults(sections, (root / "docs/reference/sections.md").read_text()))
    print("\n".join(faults) if faults else f"{len(sections)} sections have their chapter.")
    return 1 if faults or not sections else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
