"""DLProf's figures once more, from the raw tables of a database: strings, ranges, calls, kernels and works.

Written from the guide (chapters 7 to 11), to be compared with what dlkprof makes of the same tables: slow, plain, and
sharing no code with it. Where the guide leaves room it goes by dlkprof's rules, which stand in comments here. Which range
encloses what is found from times and threads alone. Captures hold their events in zstd, which Python 3.11 cannot read:
so the raw tables of a database are where this begins.
"""

import bisect
import collections
import dataclasses
import sqlite3

import markers


@dataclasses.dataclass(eq=False)
class Range:
    start: int
    end: int
    thread: int
    marker: markers.Marker
    parent: "Range | None" = None  # the innermost range around its start
    above: "Range | None" = None  # of those around it the innermost that adds to the path
    has_inner: bool = False
    component: str = ""  # what it adds to the path: its name, with (2) for repetition
    path: str = ""


@dataclasses.dataclass(eq=False)
class Call:
    start: int
    end: int
    thread: int
    name: str
    range: "Range | None" = None
    works: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Work:
    start: "int | None"  # None: not timed
    end: "int | None"
    call: "Call | None"
    kernel_name: str
    long_name: str
    kind: int  # 0 kernel, 1 copy, 2 set
    device: int  # CUDA's number
    uses_tc: bool
    grid: list  # x, y, z, and those of the block; each None of what is no kernel
    instance: "Instance | None" = None
    iteration: int = 0

    @property
    def gpu_ns(self):
        return 0 if self.start is None else self.end - self.start

    @property
    def asked_at(self):
        return self.start if self.call is None else self.call.start


@dataclasses.dataclass(eq=False)
class Instance:
    """Of an op: a range, or a call (or work of which no call is known) outside of every range."""

    op: tuple  # name, direction, type
    start: int
    end: int
    range: "Range | None"
    iteration: int = 0
    works: list = dataclasses.field(default_factory=list)
    overhead_ns: int = 0

    @property
    def cpu_ns(self):
        return self.end - self.start


def union(intervals):
    """The time that intervals (start, end) cover, each moment once."""
    covered, reached = 0, None
    for start, end in sorted(intervals):
        start = start if reached is None else max(start, reached)
        covered += max(end - start, 0)
        reached = end if reached is None else max(end, reached)
    return covered


def timed(works):
    return [(work.start, work.end) for work in works if work.start is not None]


def mapped(works):
    """From the first one's start to the last one's end."""
    times = timed(works)
    return max(end for _, end in times) - min(start for start, _ in times) if times else 0


class Timeline:
    """The raw tables, and who is inside whom. `domains`: those that count, None for all; "" is the default domain."""

    def __init__(self, database, domains=None):
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        try:
            self._read(connection, domains)
        finally:
            connection.close()
        self._nest()

    def _read(self, connection, domains):
        text = dict(connection.execute("SELECT id, value FROM string"))
        # Marks stand in the same table: ranges without length.
        self.ranges = [
            Range(start, end, thread, markers.parse(text[domain], text[message], sequence))
            for start, end, thread, message, sequence, domain in connection.execute(
                "SELECT start_ns, end_ns, thread, message, sequence, domain FROM range ORDER BY id"
            )
            if domains is None or text[domain] in domains
        ]
        self.calls = [
            Call(start, end, thread, text[name])
            for start, end, thread, name in connection.execute("SELECT start_ns, end_ns, thread, name FROM call ORDER BY id")
        ]
        self.works = [
            Work(start, end, None if call is None else self.calls[call], name, long_name, kind, device, bool(tc), grid)
            for start, end, call, name, long_name, kind, device, tc, *grid in connection.execute(
                "SELECT start_ns, end_ns, call, kernel.name, long_name, kind, ordinal, uses_tc,"
                " grid_x, grid_y, grid_z, block_x, block_y, block_z FROM activity"
                " JOIN kernel ON kernel.id = activity.kernel JOIN device ON device.id = activity.device"
                " LEFT JOIN config ON config.id = activity.config ORDER BY activity.id"
            )
        ]
        for work in self.works:
            if work.call is not None:
                work.call.works.append(work)
        times = connection.execute(
            "SELECT min(start_ns), max(end_ns) FROM (SELECT start_ns, end_ns FROM range UNION ALL"
            " SELECT start_ns, end_ns FROM call UNION ALL SELECT start_ns, end_ns FROM activity)"
        )
        self.first, self.last = times.fetchone()  # of all domains
        self.devices = [ordinal for ordinal, in connection.execute("SELECT ordinal FROM device")]

    def _nest(self):
        threads = collections.defaultdict(list)
        for event in self.ranges + self.calls:
            threads[event.thread].append(event)
        for events in threads.values():
            still_open = []
            for event in sorted(events, key=lambda event: event.start):  # stable: enclosing ranges come first
                still_open = [range for range in still_open if range.end > event.start]
                innermost = still_open[-1] if still_open else None
                if isinstance(event, Call):
                    event.range = innermost
                    continue
                event.parent = innermost
                if innermost is not None:
                    innermost.has_inner = True
                    event.above = innermost if innermost.marker.in_path else innermost.above
                still_open.append(event)


class Fold:
    """Instances of ops and iterations of a Timeline.

    `is_key` tells by an op (name, direction, type) whether it is the key node; None: the default one. `default_ends`: where
    the default key node ends, for programs that mark none.
    """

    def __init__(self, timeline, is_key=None, default_ends=None):
        self.timeline = timeline
        self.ends = self._default_ends() if default_ends is None else default_ends
        self._name(self.ends)
        self._make_instances()
        if is_key is not None:
            self.ends = self._split([range for range, instance in self.by_range.items() if is_key(instance.op)])
        for instance in self.instances:
            instance.iteration = bisect.bisect_right(self.ends, instance.start)
        for work in timeline.works:
            work.iteration = bisect.bisect_right(self.ends, work.asked_at)

    def _default_ends(self):
        """Of the best by rank that repeats; of equals that with most GPU time."""
        found = collections.defaultdict(list)
        for range in self.timeline.ranges:
            rank = markers.key_node_rank(range.marker)
            if rank is not None and all(outer.marker.name != range.marker.name for outer in _around(range.parent)):
                found[rank, range.marker.name].append(range)

        def order(key):
            gpu_ns = sum(work.gpu_ns for range in found[key] for work in self._works_inside(range))
            return key[0], -gpu_ns, -len(found[key]), key[1]

        repeated = [key for key, ranges in found.items() if len(ranges) > 1]
        return self._split(found[min(repeated, key=order)]) if repeated else []

    def _works_inside(self, range):
        return [work for call in self.timeline.calls if range in _around(call.range) for work in call.works]

    def _split(self, keys):
        """Chapter 9: with as many on each GPU, the last of the N-th ones ends the N-th iteration."""
        of_device = collections.defaultdict(list)
        for range in keys:
            devices = {work.device for work in self._works_inside(range)}
            of_device[devices.pop() if len(devices) == 1 else None].append(range.end)
        ends = [sorted(some) for some in of_device.values()]
        if None in of_device or len({len(some) for some in ends}) != 1:
            return sorted(range.end for range in keys)
        return sorted(map(max, zip(*ends)))

    def _name(self, ends):
        """Paths: the n-th of the same name below the same range, or at the root of a thread, has "(n)". Counted anew in each
        iteration at the root, and below a range that holds whole iterations."""
        siblings = collections.defaultdict(list)
        for range in self.timeline.ranges:
            siblings[range.above or range.thread].append(range)
        for around, some in siblings.items():
            iterations = [bisect.bisect_right(ends, range.start) for range in some]
            anew = not isinstance(around, Range) or max(iterations) >= min(iterations) + 2
            seen = collections.Counter()
            for iteration, range in zip(iterations, some):
                place = iteration if anew else None, range.marker.name
                seen[place] += 1
                range.component = range.marker.name + (f"({seen[place]})" if seen[place] > 1 else "")
        for range in self.timeline.ranges:  # enclosing ranges come first
            range.path = (range.above.path if range.above else "") + "/" + range.component

    def _make_instances(self):
        origins = _origins(self.timeline.ranges)
        self.by_range = {}
        for range in self.timeline.ranges:
            name, direction = _role(range, origins)
            self.by_range[range] = Instance((name, direction, range.marker.type), range.start, range.end, range)
        self._add_overhead()
        self.instances = list(self.by_range.values())
        outside = {}  # one for each call and name
        for work in self.timeline.works:
            if work.call is not None and work.call.range is not None:
                work.instance = self.by_range[work.call.range]
            else:
                work.instance = outside.setdefault((work.call or work, work.kernel_name), _unassociated(work))
            work.instance.works.append(work)
        self.instances += outside.values()
        for call in self.timeline.calls:
            if call.range is None and not call.works:
                op = ("unassociated_" + call.name, "", call.name)
                self.instances.append(Instance(op, call.start, call.end, None))

    def _add_overhead(self):
        calls = collections.defaultdict(list)
        for call in self.timeline.calls:
            calls[call.thread].append((call.start, call.end))
        for range, instance in self.by_range.items():
            inside = [(max(start, range.start), min(end, range.end)) for start, end in calls[range.thread]]
            instance.overhead_ns = instance.cpu_ns - union((start, end) for start, end in inside if start < end)


def _unassociated(work):
    """A call that causes many works (of a graph) is the CPU time of the first."""
    op = ("unassociated_" + work.kernel_name, "", work.kernel_name)
    is_first = work.call is not None and work.call.works[0] is work
    return Instance(op, work.asked_at, work.call.end if is_first else work.asked_at, None)


def _around(range):
    """The range itself, and all around it."""
    while range is not None:
        yield range
        range = range.parent


def _origins(ranges):
    """The forward range that a backward range belongs to, and with it what an engine does around that.

    PyTorch gives a sequence number to the node of its graph that it makes next: so the op that made the node is the last
    forward range to begin with that number.
    """
    forward, origins = {}, {}
    for range in sorted(ranges, key=lambda range: range.start):
        sequence = range.marker.sequence
        if range.marker.is_backward and sequence in forward:
            origins[range] = forward[sequence]
            if range.parent is not None and not range.parent.marker.in_path:
                origins.setdefault(range.parent, forward[sequence])
        elif sequence is not None and not any(outer.marker.is_backward for outer in _around(range)):
            forward[sequence] = range
    return origins


def _role(range, origins):
    """The name and direction of the op that a range is an instance of."""
    around = list(_around(range))
    for outer in around:
        if outer in origins:
            return origins[outer].path, "bprop"
    if any(outer.marker.sequence is not None and not outer.marker.is_backward for outer in around):
        return range.path, "fprop"
    return range.path, ""
