#!/usr/bin/env python3
"""selftest.py [PATTERN]: tests of the GPU tests' own logic (*_test.py in selftests/, or those that match), on made-up tables and
stand-in programs; need no GPU."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = [str(HERE), *(str(HERE / name) for name in ("lib", "parts", "probes", "selftests"))]

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[:0] = FOLDERS
    tests = unittest.defaultTestLoader.discover(
        str(HERE / "selftests"), pattern=sys.argv[1] if len(sys.argv) > 1 else "*_test.py"
    )
    result = unittest.TextTestRunner(verbosity=1).run(tests)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
