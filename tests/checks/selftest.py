#!/usr/bin/env python3
"""The checks, checked: each must find what it is there to find."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "cmake"))

import check_layers  # noqa: E402
import commits  # noqa: E402
import docs  # noqa: E402
import hygiene  # noqa: E402
import installation  # noqa: E402
import links  # noqa: E402
import listed  # noqa: E402
import sections  # noqa: E402
import tidy  # noqa: E402


class Commits(unittest.TestCase):
    def faults(self, title, body="Since it was slow.", files=("src/base/text.cpp",)):
        return [fault.split(": ")[1] for fault in commits.find_faults("c0ffee", title, body, files)]

    def test_what_is_asked_is_fine(self):
        for title in ("Fold graphs once", "Need fewer calls", "Bring back the page", "Pass what was asked", "Test gates"):
            self.assertEqual(self.faults(title), [])
        self.assertEqual(self.faults("Say more", body="", files=("docs/user/reports.md",)), [])

    def test_titles(self):
        self.assertIn("the title has 73 characters, 72 at most", self.faults("Fold" + 69 * "x"))
        for title in ("fold graphs", "Folded graphs", "Folding graphs", "Folds graphs", "Fold graphs."):
            self.assertEqual(len(self.faults(title)), 1, title)

    def test_a_message_before_it_is_a_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / "src/text.cpp").touch()
            for words in (("init", "-q"), ("add", "src/text.cpp")):
                commits.git(folder, *words)
            for message, faults in (
                ("Fold graphs\n# said by git\n", ["it changes src and has no body that says why"]),
                ("# said by git\nFold graphs\n\nSince it was slow.\n", []),
            ):
                (root / "message").write_text(message)
                self.assertEqual([fault.split(": ")[1] for fault in commits.staged(folder, root / "message")], faults)

    def test_a_change_of_the_source_says_why(self):
        self.assertEqual(self.faults("Fold graphs", body="\n"), ["it changes src and has no body that says why"])


class Tidy(unittest.TestCase):
    """With a compiler that copies what it is to preprocess, and a clang-tidy that notes when it looks at something."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.source = self.root / "text.cpp"
        self.source.write_text("int a;\n")
        self.script("compiler", 'cat "$4"')
        self.script(
            "clang-tidy",
            'case $1 in --version) echo 16;; --dump-config) cat "$0.config";; *) echo >>"$0.looked"; cat "$0.says"; exit $(wc -l <"$0.says");; esac',
        )
        for name in ("config", "says", "looked"):
            (self.root / f"clang-tidy.{name}").touch()
        self.kept, tidy.KEPT = tidy.KEPT, self.root / "kept"

    def tearDown(self):
        tidy.KEPT = self.kept

    def script(self, name, text):
        (self.root / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.root / name).chmod(0o755)

    def looks(self, *options, warnings="-Wall"):
        """Whether clang-tidy is called, and how it ends."""
        looked = self.root / "clang-tidy.looked"
        before = looked.read_text()
        compiler = [self.root / "compiler", "-O1", warnings, "-c", self.source, "-o", self.root / "text.o"]
        code = tidy.main([str(word) for word in (self.root / "clang-tidy", *options, self.source, "--", *compiler)])
        return looked.read_text() != before, code

    def test_what_was_clean_is_not_looked_at_again(self):
        self.assertEqual(self.looks(), (True, 0))
        self.assertEqual(self.looks(), (False, 0))
        for change in (
            lambda: self.source.write_text("int a;  // NOLINT\n"),
            lambda: (self.root / "clang-tidy.config").write_text("Checks: all"),
        ):
            change()
            self.assertEqual(self.looks(), (True, 0))
            self.assertEqual(self.looks(), (False, 0))
        self.assertEqual(self.looks("--quiet"), (True, 0))
        self.assertEqual(self.looks(warnings="-Wextra"), (True, 0))

    def test_what_it_finds_is_found_again(self):
        (self.root / "clang-tidy.says").write_text("an error\n")
        self.assertEqual([self.looks(), self.looks()], [(True, 1), (True, 1)])


class Listed(unittest.TestCase):
    MODULE = {
        pathlib.Path(
            "tests/e2e/read/test_gate.py"
        ): "class Helper:\n  pass\nclass GateTest(Helper):\n  def test_a(self):\n    pass\n"
    }

    def test_a_class_that_is_run(self):
        self.assertEqual(list(listed.find_faults("if(X)\n  dlkprof_e2e(gate e2e\n    GateTest)\nendif()", self.MODULE)), [])

    def test_a_class_that_is_not(self):
        for listing in ("dlkprof_e2e(gate e2e OtherTest)", "dlkprof_e2e(merge e2e GateTest)", "# dlkprof_e2e(gate e2e GateTest)"):
            self.assertEqual(
                list(listed.find_faults(listing, self.MODULE)), ["tests/e2e/read/test_gate.py: no test of ctest runs GateTest"]
            )


class Layers(unittest.TestCase):
    def faults(self, path, text):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "include/dlkprof").mkdir(parents=True)
            (root / "src").mkdir()
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            return [fault.removeprefix(f"{root}/") for fault in check_layers.check_tree(root)]

    def test_downward_is_fine(self):
        lines = '#include "model/run.h"\n#include "capture/reader.h"\n#include "dlkprof/capture_format.h"\n#include <vector>\n'
        self.assertEqual(self.faults("src/model/run.cpp", lines), [])

    def test_upward_is_named_with_its_line(self):
        faults = self.faults("src/base/text.cpp", '\n  # include "capture/reader.h"\n')
        self.assertEqual(faults, ['src/base/text.cpp:2: base may not include "capture/reader.h"'])

    def test_both_sides_of_the_capture_stay_apart(self):
        for layer in ("model", "report", "cli"):
            self.assertEqual(len(self.faults("src/inject/hook.cpp", f'#include "{layer}/a.h"\n')), 1)
            self.assertEqual(len(self.faults(f"src/{layer}/a.cpp", '#include "inject/hook.h"\n')), 1)

    def test_public_headers_know_nobody(self):
        self.assertEqual(len(self.faults("include/dlkprof/a.h", '#include "base/error.h"\n')), 1)

    def test_no_header_without_its_layer(self):
        self.assertEqual(len(self.faults("src/base/a.cpp", '#include "error.h"\n')), 1)
        self.assertEqual(len(self.faults("src/base/a.cpp", '#include "../base/error.h"\n')), 1)

    def test_unknown_layers(self):
        self.assertEqual(len(self.faults("src/other/a.cpp", "")), 1)
        self.assertEqual(len(self.faults("src/cli/a.cpp", '#include "other/a.h"\n')), 1)

    def test_heavy_headers_stay_in_cpp_files(self):
        self.assertEqual(len(self.faults("src/capture/a.h", "#include <nlohmann/json.hpp>\n")), 1)
        self.assertEqual(self.faults("src/capture/a.cpp", "#include <nlohmann/json.hpp>\n"), [])

    def test_own_header_comes_first(self):
        with tempfile.TemporaryDirectory() as name:
            source = pathlib.Path(name) / "a.cpp"
            source.with_suffix(".h").touch()
            source.write_text('#include <vector>\n#include "base/a.h"\n')
            self.assertEqual(list(check_layers.check_file(source, "base")), [f'{source}:1: "base/a.h" is to be included first'])
            source.write_text('#include "base/a.h"\n#include <vector>\n')
            self.assertEqual(list(check_layers.check_file(source, "base")), [])
            source.with_suffix(".h").unlink()
            source.write_text("#include <vector>\n")
            self.assertEqual(list(check_layers.check_file(source, "base")), [])


class Hygiene(unittest.TestCase):
    def faults(self, name, content):
        return list(hygiene.find_faults(pathlib.Path(name), content))

    def test_clean(self):
        self.assertEqual(self.faults("src/base/a.cpp", b"int a;\n" * hygiene.MAX_SOURCE_LINES), [])

    def test_size(self):
        self.assertEqual(len(self.faults("a.bin", b"\0" * (hygiene.MAX_BYTES + 1))), 1)

    def test_lines_count_in_sources_only(self):
        text = b"\n" * (hygiene.MAX_SOURCE_LINES + 1)
        self.assertEqual(len(self.faults("src/base/a.cpp", text)), 1)
        self.assertEqual(self.faults("tests/unit/base/a.cpp", text), [])

    def test_machine_paths_in_binary_files_too(self):
        path = b"/ho" + b"me/somebody/a.py"
        self.assertEqual(len(self.faults("a.md", path)), 1)
        self.assertEqual(len(self.faults("a.dlkcap", b"\0" + path)), 1)

    def test_unfinished_work_in_text_only(self):
        word = b"TO" + b"DO"
        self.assertEqual(len(self.faults("a.md", b"// " + word)), 1)
        self.assertEqual(self.faults("a.bin", b"\0" + word), [])


class Installation(unittest.TestCase):
    def test_missing_parts_and_own_paths_are_named(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "bin").mkdir()
            (root / "bin/dlkprof").write_bytes(b"\0/where/it/was/built\0")
            faults = list(installation.find_faults(root, ["/where/it/was"]))
            self.assertEqual(len(faults), len(installation.PARTS))  # one part is there, and names the folder
            self.assertIn("bin/dlkprof names /where/it/was", faults)


class Sections(unittest.TestCase):
    PAGE = "# Sections\n\n## one\n\nWords.\n\n## two\n\n## three\n\nWords.\n"

    def test_a_chapter_each(self):
        self.assertEqual(list(sections.find_faults(["one", "three"], self.PAGE.replace("## two\n\n", ""))), [])

    def test_what_is_missing_empty_or_of_nothing(self):
        self.assertEqual(
            list(sections.find_faults(["one", "two", "four"], self.PAGE)),
            ["section two has no chapter", "section four has no chapter", "chapter three is of no section"],
        )


class Links(unittest.TestCase):
    PAGES = {"docs/a.md": "# One two\n\n```text\n# no heading\n```\n## `three` (four)\n", "docs/a.svg": ""}

    def faults(self, text):
        return list(links.find_faults(pathlib.Path("docs/b.md"), text, self.PAGES.get))

    def test_what_is_there_is_fine(self):
        for target in ("a.md", "a.md#one-two", "a.md#three-four", "a.svg", "#here", "https://example.org/x.md"):
            self.assertEqual(self.faults(f"# Here\n\n[a]({target}) ![b]({target})\n"), [], target)
        self.assertEqual(self.faults("`[a](none.md)`\n\n```text\n[a](none.md)\n```\n"), [])

    def test_what_is_not_is_named(self):
        for target in ("none.md", "../a.md", "a.md#no-heading", "#there"):
            self.assertEqual(len(self.faults(f"# Here\n\n[a]({target})\n")), 1, target)


class Docs(unittest.TestCase):
    def test_size_and_times_of_day(self):
        page = pathlib.Path("docs/a.md")
        self.assertEqual(list(docs.find_faults({page: b"At 8 o'clock\n" + b" " * 1000})), [])
        self.assertEqual(
            list(docs.find_faults({page: b"\nAt 08:53 " + b"UTC\n"})), ["docs/a.md:2: a time of day belongs into results/"]
        )
        self.assertEqual(len(list(docs.find_faults({page: b" " * (docs.MAX_BYTES + 1)}))), 1)

    def test_a_tool_that_is_missing_is_a_fault(self):
        self.assertEqual(docs.run(ROOT, "no-such-tool"), ["no-such-tool is missing: apt-get install no-such-tool"])
        self.assertEqual(len(docs.run(ROOT, "false")), 1)


if __name__ == "__main__":
    unittest.main()
