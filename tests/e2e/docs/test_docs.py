"""The commands of the README and of docs/user, run where no GPU is needed, and what the pages say that they print.

A block ```sh is run, in the order of the page, in a folder that has what a profile leaves; ```sh-gpu is not. A block ```text right
after ```sh is what the command prints, with `...` for lines that are left out. No other block holds commands of dlkprof.
"""

import os
import re
import shutil
import subprocess

from harness import BUILD, DLKPROF, SOURCE, EndToEndTest

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```([\w-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = {"jobs.md"}  # its commands need a job of ranks
NOT_COMMANDS = {"text", "json", "sql", "python"}
CAPTURES = {"dlkprof": "cifar10_b512", "batch4": "cifar10_b4", "batch512": "cifar10_b512"}


def blocks(page):
    return FENCED.findall(page.read_text(encoding="utf-8"))


def holds(printed, shown):
    """Whether the lines of `shown` stand in `printed` in this order, next to one another but where it says `...`."""
    parts = [
        [line.rstrip() for line in part.splitlines() if line.strip()] for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)
    ]
    lines, at = [line.rstrip() for line in printed.splitlines() if line.strip()], 0
    for part in filter(None, parts):
        at = next((i + len(part) for i in range(at, len(lines)) if lines[i : i + len(part)] == part), None)
        if at is None:
            return False
    return True


class DocumentedCommandsTest(EndToEndTest):
    def prepare(self, folder):
        folder.mkdir()
        (folder / "samples").symlink_to(SOURCE / "samples")
        for name, capture in CAPTURES.items():
            shutil.copy(SOURCE / f"samples/captures/{capture}.dlkcap", folder / f"{name}.dlkcap")
            shutil.copy(self.folder / f"{capture}_dldb.sqlite", folder / f"{name}_dldb.sqlite")

    def run_blocks(self, page, folder):
        commands = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(SOURCE / "python"), "COLUMNS": "80"}
        printed = ""
        for language, text in blocks(page):
            if language == "sh":
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=self.environment(**commands),
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)  # fmt: skip
                self.assertEqual(0, done.returncode, f"{text}{done.stderr}")
                printed = done.stdout + done.stderr
            elif language == "text" and printed:
                self.assertTrue(holds(printed, text), f"{page.name} shows\n{text}\nwhich is not in\n{printed}")
            if language != "sh":
                printed = ""

    def test_they_do_what_the_pages_say(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/dlkprof").symlink_to(DLKPROF)
        for capture in set(CAPTURES.values()):
            self.run_command(BUILD / "bin/capture_database", self.folder / f"{capture}_dldb.sqlite",
                             SOURCE / f"samples/captures/{capture}.dlkcap")  # fmt: skip
        run = 0
        for page in PAGES:
            if any(language == "sh" for language, _ in blocks(page)):
                with self.subTest(page=str(page.relative_to(SOURCE))):
                    folder = self.folder / f"page{run}"
                    self.prepare(folder)
                    self.run_blocks(page, folder)
                run += 1
        self.assertGreater(run, 10)

    def test_a_command_stands_in_a_block_that_says_whether_it_runs(self):
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            for language, block in FENCED.findall(text):
                if language not in ("sh", "sh-gpu"):
                    self.assertIn(language, NOT_COMMANDS, f"{page.name}: the language of\n{block}")
                    self.assertNotRegex(block, r"(?m)^(dlkprof|\./setup\.sh) [-\w]", page.name)
            if page.name not in INDENTED:
                self.assertNotRegex(FENCED.sub("", text), r"(?m)^    (dlkprof|\./setup\.sh) ", page.name)

    def test_every_option_exists(self):
        verbs = (
            "",
            "report",
            "compare",
            "view",
            "sweep",
            "export",
            "merge",
            "mcp",
            "demo",
            "metrics",
            "doctor",
            "help",
            "completion",
        )
        known = {verb: self.dlkprof("help", *filter(None, [verb])).stdout for verb in verbs}
        for page in PAGES:
            commands = "".join(block for language, block in blocks(page) if language.startswith("sh")).replace("\\\n", " ")
            for command in re.findall(r"(?m)(?:^|\| |\()dlkprof (.+)$", commands):
                words = re.split(r" (?:python|torchrun|mpirun|--) ", command)[0].split("#")[0].split("|")[0].split()
                verb = words[0] if words and words[0] in verbs else ""
                for option in (word.split("=")[0] for word in words if re.match(r"--[a-z]", word)):
                    self.assertRegex(known[verb].replace("_", "-"), rf"{option.replace('_', '-')}\b", f"{page.name}: {command}")

    def test_what_is_not_printed_is_noticed(self):
        self.assertTrue(holds("a\nb\n\nc\ne\n", "a\nb\n...\ne\n"))
        for shown in ("b\na\n", "a\nc\n", "a\n...\ni\n"):
            self.assertFalse(holds("a\nb\n\nc\ne\n", shown), shown)
