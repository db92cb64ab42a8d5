"""docs/reference beside the program: the command line as its help has it, and what the other pages name.

DLKPROF_REGENERATE=1 writes docs/reference/command-line.md anew.
"""

import os
import re

from harness import SOURCE, EndToEndTest

PAGE = SOURCE / "docs/reference/command-line.md"
MOST_NAMED = 20
ALIKE = r"-f, --force|--cupti-path|--output_path|--base_name"  # said otherwise by every verb
VERBS = ("report", "compare", "view", "sweep", "export", "merge", "mcp", "demo", "metrics", "doctor", "help", "completion")
HEAD = """# The command line

Generated from the program's help (`DLKPROF_REGENERATE=1` with `tests/e2e/run.py test_reference`); a test compares the two. `dlkprof help
<verb>` prints the same for a verb, with examples. Options stand before the program; what follows the program's name is the program's. A
long option takes `--name value` and `--name=value`; `_` and `-` are the same in its name. A program that is called like a verb, or whose
name begins with a dash, is given after `--`. A flag such as `--force` may be followed by `true` or `false`.
"""


def options(text):
    """(group, option, meaning) of each line of a help text; arguments are options too."""
    found, group = [], ""
    for line in text.split("\nExamples:\n")[0].splitlines():
        if re.match(r"\S.*:$", line):
            group = line[:-1]
        elif match := re.match(r"  ((?:-|<)\S.*?)(?:   *(\S.*))?$", line):
            found.append([group, match[1], match[2] or ""])
        elif found and line.startswith(" " * 20):
            found[-1][2] = f"{found[-1][2]} {line.strip()}".strip()
    return [tuple(one) for one in found if one[1] != "-h, --help"]


def cell(text):
    return text.replace("<", "&lt;").replace("*", "\\*")


def rows(listed):
    """As a list; the names of reports stand in a page of their own."""
    short = re.compile(r"Any of: all, summary.*")
    return "".join(
        f"- `{option}`: {cell(short.sub('[Which](../user/reports.md#all-reports)', text))}\n" for _, option, text in listed
    )


def describe(verb, text, known):
    """A chapter; `known` are the options of profiling, which a verb that takes them alike only names."""
    usage, about = re.match(r"Usage:\n(.*?)\n\n(.*?)\n\n", text, re.DOTALL).groups()
    page = f"\n## dlkprof {verb}\n\n`{' '.join(usage.split())}`\n\n{' '.join(about.split())}\n\n"
    own = [one for one in options(text) if one[1:] not in known and not re.match(ALIKE, one[1])]
    shared = [re.search(r"--[\w-]+", one[1])[0] for one in options(text) if one not in own]
    page += rows(own) if own else ""
    if len(shared) > MOST_NAMED:
        page += "\nBeside these it takes the options of profiling.\n"
    elif shared:
        page += "\nAs in profiling: " + ", ".join(f"`{one}`" for one in shared) + ".\n"
    return page


class CommandLineTest(EndToEndTest):
    def test_the_page_is_what_help_says(self):
        profile = options(self.dlkprof("help").stdout)
        page = HEAD + "\n## Profiling\n\n`dlkprof [options] [--] <program> [arguments]`, `dlkprof [options] --database=<file>`\n"
        for group in dict.fromkeys(group for group, _, _ in profile):
            page += f"\n### {group}\n\n" + rows([one for one in profile if one[0] == group])
        for verb in VERBS:
            page += describe(verb, self.dlkprof("help", verb).stdout, {one[1:] for one in profile})
        if os.environ.get("DLKPROF_REGENERATE"):
            PAGE.write_text(page, encoding="utf-8")
        self.assertEqual(page, PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(profile), 40)
