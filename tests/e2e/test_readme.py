"""The output that the README opens with is what the program prints."""

import os
import re
import subprocess
import unittest
from pathlib import Path

SOURCE, BUILD = Path(os.environ["DLKPROF_SOURCE"]), Path(os.environ["DLKPROF_BUILD"])
COMMAND = "dlkprof report samples/captures/cifar10_b512.dlkcap"


def blocks(text):
    """The indented blocks of a Markdown text, without their indentation; blank lines within one belong to it."""
    found = re.findall(r"(?:^    .*\n(?:\n(?=    ))*)+", text, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found]


class ReadmeTest(unittest.TestCase):
    def test_the_output_shown_is_real(self):
        shown = blocks((SOURCE / "README.md").read_text(encoding="utf-8"))
        at = shown.index(COMMAND + "\n")
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
        printed = subprocess.run([BUILD / "bin" / "dlkprof", *COMMAND.split()[1:]], cwd=SOURCE, env=environment, check=True,
                                 capture_output=True, text=True).stdout
        self.assertEqual(printed[: len(shown[at + 1])], shown[at + 1])
        self.assertGreater(shown[at + 1].count("\n"), 15)


if __name__ == "__main__":
    unittest.main()
