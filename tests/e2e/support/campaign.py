"""Kills, stops and cuts at random moments: campaign.py [--moments 1000] [--seed N].

Every capture must read to its last whole record, and every database must be whole or absent, whatever ended the program or
dlkprof, and whenever. The seed is printed, and gives the same choices again (not the same moments: machines differ).
"""

import argparse
import collections
import os
import pathlib
import random
import signal
import struct
import sys
import time
import unittest

from harness import DLKPROF, METRICS, PROGRAM, WAYS, EndToEndTest

SYNC, RECORD_HEADER = 0x524B4C44, struct.Struct("<IHHIII")
FILE_HEADER_BYTES = 16
PROGRAMS = (
    ("marked:30", "train:30"),
    ("threads:4:20", "train:20"),
    ("train:10", "fork:print:child", "marked:20"),
    ("names:300",),
    ("train:20", "sleep:100") * 5,
)  # in pauses, counters of windows are evaluated
DEADLY = ("KILL", "SEGV", "USR1")  # nothing of dlkprof's runs any more where they come while it writes its database
SIGNALS = ("KILL", "TERM", "INT", "HUP", "QUIT", "USR1", "SEGV", "PIPE", "STOP")


def whole_bytes(data):
    """How far a capture consists of whole records, by the format's own description; None where it has no whole header."""
    if len(data) < FILE_HEADER_BYTES:
        return None
    at = FILE_HEADER_BYTES
    while len(data) - at >= RECORD_HEADER.size:
        sync, _, _, length, _, _ = RECORD_HEADER.unpack_from(data, at)
        if sync != SYNC or length > len(data) - at - RECORD_HEADER.size:
            break
        at += RECORD_HEADER.size + length
    return at


class Campaign(EndToEndTest):
    """One moment a call; leaves its folder empty for the next."""

    def setUp(self):
        super().setUp()
        self.tally = collections.Counter()  # how many moments there were of what kind

    def clear(self):
        for path in self.folder.iterdir():
            path.unlink()

    def check_capture(self, path):
        data = path.read_bytes()
        whole = whole_bytes(data)
        done = self.dlkprof("report", path, "--reports=summary")
        self.tally["captures, " + ("without a header" if whole is None else "whole" if whole == len(data) else "cut")] += 1
        if whole is None:
            self.assertEqual(1, done.code, done.stderr)
            self.assertIn("is not a capture", done.stderr)
            return
        self.assertEqual(0, done.code, done.stderr)
        self.assertEqual(whole < len(data), "middle of a record" in done.stdout + done.stderr, (whole, len(data)))

    def check_all(self, killed):
        for path in self.folder.glob("*.dlkcap"):
            data = path.read_bytes()
            self.assertEqual(len(data), whole_bytes(data) or len(data), f"{path.name}: the last record is not whole")
            self.check_capture(path)
        for path in self.folder.glob("*.sqlite"):
            done = self.dlkprof("report", path, "--reports=summary")
            self.assertEqual(0, done.code, done.stderr)
            self.tally["databases"] += 1
        hidden = [path.name for path in self.folder.iterdir() if path.name.startswith(".")]
        self.tally["hidden files left by deadly signals"] += len(hidden)
        self.assertTrue(killed or not hidden, hidden)

    def target(self, process, whom):
        """The program is dlkprof's only child, where it has begun."""
        if whom == "program":
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
            return int(children[0]) if children else process.pid
        return process.pid

    def send(self, process, whom, name):
        number = getattr(signal, "SIG" + name)
        try:
            if whom == "group":
                os.killpg(process.pid, number)
            else:
                os.kill(self.target(process, whom), number)
            if name == "STOP":
                time.sleep(0.05)
                os.killpg(process.pid, signal.SIGCONT)
        except (ProcessLookupError, FileNotFoundError):
            pass  # it has ended already, which is a moment too

    def kill_once(self, chance):
        self.clear()
        way = chance.choice(sorted(WAYS))
        words = [DLKPROF, *WAYS[way], f"--metrics={METRICS[0]}", PROGRAM, *chance.choice(PROGRAMS)]
        whom, name = chance.choice(("program", "dlkprof", "group")), chance.choice(SIGNALS)
        process = self.start(words, env={"FAKE_JOURNAL": "/dev/null"})
        time.sleep(chance.random() ** 2 * 0.8)
        self.send(process, whom, name)
        self.finish(process)
        self.wait_for_orphans(process.pid)
        self.tally[f"by {name}"] += 1
        self.tally[f"collected by {way}"] += 1
        self.check_all(killed=name in DEADLY)

    def wait_for_orphans(self, group):
        """Where dlkprof was killed the program goes on by itself, and its capture grows."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)

    def make_capture(self):
        self.clear()
        self.profile("marked:20", "train:2", options=["--replay-mode=kernel", "--timeline=on"], env={"FAKE_JOURNAL": "/dev/null"})
        return next(self.folder.glob("*.dlkcap")).read_bytes()

    def cut_once(self, data, chance):
        self.clear()
        path = self.folder / "cut.dlkcap"
        path.write_bytes(data[: chance.randrange(1, len(data) + 1)])
        self.check_capture(path)

    def run_moments(self, moments, seed):
        chance = random.Random(seed)
        data = self.make_capture()
        for moment in range(moments):
            with self.subTest(seed=seed, moment=moment):
                if chance.random() < 0.2:
                    self.tally["by cutting"] += 1
                    self.cut_once(data, chance)
                else:
                    self.kill_once(chance)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked = parser.parse_args()
    print(f"{asked.moments} moments, seed {asked.seed}", flush=True)

    class Asked(Campaign):
        def test_all(self):
            self.run_moments(asked.moments, asked.seed)
            print("\n".join(f"{count:5} {what}" for what, count in sorted(self.tally.items())), flush=True)

    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromTestCase(Asked))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
