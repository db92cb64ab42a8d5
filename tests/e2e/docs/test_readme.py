"""The README opens with a question, a command and a picture, and shows little output; test_docs.py runs its commands."""

import os
import re
import unittest
from pathlib import Path

SOURCE = Path(os.environ["DLKPROF_SOURCE"])
MOST_LINES = 20  # of output shown; and before the first command


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / "README.md").read_text(encoding="utf-8")

    def test_the_first_command_is_on_the_first_screen(self):
        before = self.text.split("```sh")[0]
        self.assertIn("?", before)
        self.assertLess(before.count("\n"), MOST_LINES)
        self.assertRegex(self.text[: self.text.index("## ")], r"!\[.*\]\(docs/pictures/\w+\.webp\)")

    def test_the_output_shown_is_short(self):
        shown = re.findall(r"```text\n(.*?)```", self.text, re.DOTALL)
        self.assertEqual(1, len(shown))
        self.assertLessEqual(shown[0].count("\n"), MOST_LINES)
