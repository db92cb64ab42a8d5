#!/usr/bin/env python3
"""Runs end-to-end tests as `python3 -m unittest` does: run.py [option...] test_usage.UsageTest... (harness.py says what the environment holds).

Modules import each other by name, whichever folder they are in, so that a test can move.
"""

import sys
import unittest
from pathlib import Path

sys.path[:0] = sorted(str(path) for path in Path(__file__).resolve().parent.iterdir() if path.is_dir())

if __name__ == "__main__":
    unittest.main(module=None)
