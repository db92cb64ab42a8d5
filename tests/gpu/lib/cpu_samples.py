"""Where threads of another process spend their time on processors, by library: samples of the kernel's own clock, which need no
performance counters (perf_event_open(2), PERF_COUNT_SW_CPU_CLOCK)."""

import collections
import contextlib
import ctypes
import fcntl
import mmap
import os
import platform
import struct
from pathlib import Path

PERIOD_NS = 250_000
KERNEL = "kernel"
UNKNOWN = "no file"  # memory that belongs to none

# From <linux/perf_event.h>, as the rest of this file.
NUMBERS = {"x86_64": 298, "aarch64": 241}  # of the system call
TYPE_SOFTWARE, CPU_CLOCK = 1, 0
SAMPLE_IP, SAMPLE_TID = 1 << 0, 1 << 1
DISABLED = 1 << 0
IOC_ENABLE, IOC_DISABLE = 0x2400, 0x2401
ATTRIBUTES = struct.Struct("=IIQQQQQ24x")  # type, size, config, sample_period, sample_type, read_format, flags
HEAD = struct.Struct("=Q")
HEAD_AT = 1024  # of perf_event_mmap_page.data_head
RECORD = struct.Struct("=IHH")  # type, misc, size
SAMPLE = struct.Struct("=QII")  # ip, pid, tid
RECORD_LOST, RECORD_SAMPLE = 2, 9
MODE_MASK, MODE_KERNEL = 7, 1
ROOM = 128 * mmap.PAGESIZE  # 20,000 samples


class Sampler(contextlib.AbstractContextManager):
    """Samples these threads while it is entered, at most ROOM bytes of each. OSError where that is not allowed."""

    def __init__(self, pid, threads):
        self._pid = pid
        self._rings = [_Ring(thread) for thread in threads]
        self.microseconds = collections.Counter()  # by library
        self.lost = 0

    def __enter__(self):
        for ring in self._rings:
            ring.switch(IOC_ENABLE)
        return self

    def __exit__(self, *_):
        for ring in self._rings:
            ring.switch(IOC_DISABLE)
        libraries = Libraries(Path(f"/proc/{self._pid}/maps").read_text(errors="replace"))
        for ring in self._rings:
            samples, lost = read_records(ring.take())
            self.lost += lost
            for address, in_kernel in samples:
                self.microseconds[KERNEL if in_kernel else libraries.at(address)] += PERIOD_NS / 1e3


class _Ring:
    def __init__(self, thread):
        attributes = ATTRIBUTES.pack(TYPE_SOFTWARE, ATTRIBUTES.size, CPU_CLOCK, PERIOD_NS, SAMPLE_IP | SAMPLE_TID, 0, DISABLED)
        system_call = ctypes.CDLL(None, use_errno=True).syscall
        self._file = system_call(NUMBERS[platform.machine()], attributes, thread, -1, -1, 0)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), f"perf_event_open: {os.strerror(ctypes.get_errno())}")
        try:
            self._memory = mmap.mmap(self._file, mmap.PAGESIZE + ROOM)
        except OSError:
            os.close(self._file)
            raise

    def switch(self, how):
        fcntl.ioctl(self._file, how, 0)

    def take(self):
        """What it holds; it is gone then."""
        with self._memory as memory:
            end = min(HEAD.unpack_from(memory, HEAD_AT)[0], ROOM)
            data = bytes(memory[mmap.PAGESIZE : mmap.PAGESIZE + end])
        os.close(self._file)
        return data


def read_records(data):
    """[(address, whether it is the kernel's)], and how many samples were lost."""
    samples, lost, at = [], 0, 0
    while at + RECORD.size <= len(data):
        kind, misc, size = RECORD.unpack_from(data, at)
        if size < RECORD.size or at + size > len(data):
            break
        if kind == RECORD_SAMPLE:
            samples.append((SAMPLE.unpack_from(data, at + RECORD.size)[0], misc & MODE_MASK == MODE_KERNEL))
        elif kind == RECORD_LOST:
            lost += struct.unpack_from("=Q", data, at + RECORD.size + 8)[0]
        at += size
    return samples, lost


class Libraries:
    """Files mapped into a process, from the text of its /proc/PID/maps."""

    def __init__(self, maps):
        self._ranges = []
        for line in maps.splitlines():
            place, _, _, _, _, *file = line.split(None, 5)
            begin, end = (int(number, 16) for number in place.split("-"))
            self._ranges.append((begin, end, file[0].rsplit("/", 1)[-1] if file else UNKNOWN))

    def at(self, address):
        return next((name for begin, end, name in self._ranges if begin <= address < end), UNKNOWN)
