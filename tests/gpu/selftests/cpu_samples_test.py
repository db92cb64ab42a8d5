"""Samples of processors' time, and where threads are put that are compared."""

import ctypes
import os
import subprocess
import sys
import time
import unittest
from unittest import mock

import places
from cpu_samples import KERNEL, RECORD, RECORD_LOST, RECORD_SAMPLE, SAMPLE, UNKNOWN, Libraries, Sampler, read_records

MAPS = """\
1000-2000 r-xp 00000000 fe:00 7                      /opt/a b/libcupti.so.13
3000-5000 r-xp 00001000 fe:00 8                      /usr/lib/libc.so.6
5000-6000 rw-p 00000000 00:00 0
7000-8000 r-xp 00000000 00:00 0                      [vdso]
"""

# A second thread, with the name that PyTorch gives its own, and a third one.
THREADS = """
import ctypes, threading, time
def backward():
    ctypes.CDLL(None).prctl(15, b"pt_autograd_0", 0, 0, 0)  # PR_SET_NAME
    ready.wait()
    time.sleep(60)
ready = threading.Barrier(3)
threading.Thread(target=backward, daemon=True).start()
threading.Thread(target=lambda: (ready.wait(), time.sleep(60)), daemon=True).start()
ready.wait()
print("ready", flush=True)
while True:
    sum(range(1000))
"""


def sample(address, misc=2):
    return RECORD.pack(RECORD_SAMPLE, misc, RECORD.size + SAMPLE.size) + SAMPLE.pack(address, 1, 1)


def lost(count):
    return RECORD.pack(RECORD_LOST, 0, RECORD.size + 16) + bytes(8) + count.to_bytes(8, "little")


class RecordsTest(unittest.TestCase):
    def test_samples_and_what_was_lost(self):
        other = RECORD.pack(3, 0, RECORD.size + 8) + bytes(8)
        self.assertEqual(
            read_records(sample(0x1500) + other + lost(5) + sample(0x10, misc=1) + lost(2)), ([(0x1500, False), (0x10, True)], 7)
        )

    def test_what_is_cut(self):
        self.assertEqual(read_records(sample(1) + sample(2)[:-1]), ([(1, False)], 0))
        self.assertEqual(read_records(sample(1) + RECORD.pack(RECORD_SAMPLE, 0, 0)), ([(1, False)], 0))
        self.assertEqual(read_records(b""), ([], 0))

    def test_libraries(self):
        libraries = Libraries(MAPS)
        addresses = (0xFFF, 0x1000, 0x1FFF, 0x2000, 0x3000, 0x5000, 0x7FFF)
        self.assertEqual(
            [libraries.at(address) for address in addresses],
            [UNKNOWN, "libcupti.so.13", "libcupti.so.13", UNKNOWN, "libc.so.6", UNKNOWN, "[vdso]"],
        )


class ProcessTest(unittest.TestCase):
    def setUp(self):
        self.process = subprocess.Popen([sys.executable, "-c", THREADS], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.assertEqual(self.process.stdout.readline(), "ready\n")

    def test_threads_have_their_places(self):
        cores = sorted(os.sched_getaffinity(0))
        main, backward, others = {cores[0]}, {cores[-1]}, set(cores)
        with mock.patch.multiple(places, MAIN=main, BACKWARD=backward, OTHERS=others):
            places.Places(self.process.pid).keep()
            threads = places.threads_of(self.process.pid)
            self.assertEqual({thread: os.sched_getaffinity(thread) for thread in threads}, threads)
            self.assertEqual(threads[self.process.pid], main)
            self.assertIn(f"main thread on core {cores[0]}, that of the backward pass on {cores[-1]}, all", places.words())
            self.assertEqual(len(threads), 3)
            if main != backward:
                self.assertEqual(sorted(threads.values(), key=sorted), sorted((main, backward, others), key=sorted))
                self.assertEqual(len(places.that_take_turns(self.process.pid)), 2)

    def test_without_these_cores_nothing_is_moved(self):
        before = os.sched_getaffinity(self.process.pid)
        with mock.patch.object(places, "MAIN", {10**4}):
            places.Places(self.process.pid).keep()
            self.assertEqual(places.words(), "threads free to move")
        self.assertEqual(os.sched_getaffinity(self.process.pid), before)

    def spent(self):
        return time.clock_gettime(ctypes.c_int(~self.process.pid << 3 | 2).value)  # clock_getcpuclockid(3)

    def test_where_time_is_spent(self):
        try:
            sampler = Sampler(self.process.pid, [self.process.pid])
        except OSError as reason:
            self.skipTest(str(reason))
        before = self.spent()
        with sampler:
            time.sleep(0.3)
        spent = 1e6 * (self.spent() - before)
        self.assertGreater(sum(sampler.microseconds.values()), spent / 2)
        self.assertLess(sum(sampler.microseconds.values()), spent * 2)
        python = sum(us for name, us in sampler.microseconds.items() if "python" in name)
        self.assertGreater(python, 0.5 * sum(us for name, us in sampler.microseconds.items() if name != KERNEL))
        self.assertEqual(sampler.lost, 0)

    def test_a_thread_that_is_gone(self):
        with self.assertRaisesRegex(OSError, "perf_event_open: "):
            Sampler(self.process.pid, [2**22 + 1])
