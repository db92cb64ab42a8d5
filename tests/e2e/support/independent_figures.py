"""The figures of DLProf's reports over a range of iterations, from the instances and works of independent.Fold.

What a report shows as total, average, minimum and maximum is a list here, with a value an instance.
"""

import collections
import dataclasses

from independent import mapped, timed, union
from independent_steady import steady_range


@dataclasses.dataclass
class OpFigures:
    calls: int = 0
    cpu: list = dataclasses.field(default_factory=list)
    gpu: list = dataclasses.field(default_factory=list)
    overhead: list = dataclasses.field(default_factory=list)
    idle: list = dataclasses.field(default_factory=list)
    mapped: list = dataclasses.field(default_factory=list)
    works: list = dataclasses.field(default_factory=list)

    def take(self, instance):
        self.calls += 1
        self.cpu.append(instance.cpu_ns)
        self.overhead.append(instance.overhead_ns)
        self.mapped.append(mapped(instance.works))
        self.idle.append(mapped(instance.works) - union(timed(instance.works)))


@dataclasses.dataclass
class KernelFigures:
    gpu: list = dataclasses.field(default_factory=list)
    api: list = dataclasses.field(default_factory=list)
    works: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class GroupFigures:
    """A value an iteration, of which overlapping time counts once."""

    calls: int = 0
    cpu: list = dataclasses.field(default_factory=list)
    gpu: list = dataclasses.field(default_factory=list)


class Figures:
    """Of iterations `first` to `last`, both included; None: of the steady range."""

    def __init__(self, fold, first=None, last=None):
        self.fold = fold
        self.iterations = len(fold.ends) + 1
        self.first, self.last = steady_range(fold.ends) if first is None else (first, last)
        self.instances = [instance for instance in fold.instances if self._is_in(instance)]
        self.works = [work for work in fold.timeline.works if self._is_in(work)]
        self.gpu_ns = sum(work.gpu_ns for work in self.works)

    def _is_in(self, part):
        return self.first <= part.iteration <= self.last

    def by_op(self, key=lambda op: op):
        """GPU time counts where it was launched, even of an instance that began before the first iteration."""
        found = collections.defaultdict(OpFigures)
        for instance in self.fold.instances:
            works = [work for work in instance.works if self._is_in(work)]
            if self._is_in(instance):
                found[key(instance.op)].take(instance)
            if works or self._is_in(instance):
                found[key(instance.op)].gpu.append(sum(work.gpu_ns for work in works))
                found[key(instance.op)].works += works
        return dict(found)

    def by_type(self):
        return self.by_op(lambda op: op[2])

    def by_kernel(self):
        """Of each kernel and op. A call counts once: for the first that it caused."""
        found = collections.defaultdict(KernelFigures)
        for work in self.works:
            figures = found[work.long_name, work.instance.op]
            figures.works.append(work)
            if work.start is not None:
                figures.gpu.append(work.gpu_ns)
            if work.call is not None and work.call.works[0] is work:
                figures.api.append(work.call.end - work.call.start)
        return dict(found)

    def by_group(self):
        """Group nodes: whatever adds to the path of another."""
        paths = {range.above.path for range in self.fold.timeline.ranges if range.above is not None}
        inner = {instance.op for instance in self.fold.instances if instance.range and instance.range.has_inner}
        found = collections.defaultdict(GroupFigures)
        for path in paths:
            below = [instance for instance in self.fold.instances if (instance.op[0] + "/").startswith(path + "/")]
            for iteration in range(self.first, self.last + 1):
                begun = [instance for instance in below if instance.iteration == iteration]
                works = [work for instance in below for work in instance.works if work.iteration == iteration]
                if not begun and not works:
                    continue
                found[path].calls += sum(instance.op not in inner for instance in begun)
                found[path].cpu.append(union((instance.start, instance.end) for instance in begun))
                found[path].gpu.append(self._by_device(works, lambda of_device: union(timed(of_device))))
        return dict(found)

    @staticmethod
    def _by_device(works, measure):
        return sum(measure([work for work in works if work.device == device]) for device in {work.device for work in works})

    def iteration_times(self):
        bounds = [self.fold.timeline.first, *self.fold.ends, self.fold.timeline.last]
        return [bounds[i + 1] - bounds[i] for i in range(self.first, self.last + 1)]

    def gpu_shares(self):
        """Per cent of the wall clock, mean over the GPUs: a GPU is active; with kernels that use tensor cores; else with
        others; else with copies or sets."""
        bounds = [self.fold.timeline.first, *self.fold.ends, self.fold.timeline.last]
        start, end = bounds[self.first], bounds[self.last + 1]

        def share(takes):
            active = 0
            for device in self.fold.timeline.devices:
                works = [work for work in self.fold.timeline.works if work.device == device and takes(work)]
                clipped = ((max(first, start), min(last, end)) for first, last in timed(works))
                active += union((first, last) for first, last in clipped if first < last)
            return 100 * active / (end - start) / max(len(self.fold.timeline.devices), 1)

        tensor = share(lambda work: work.kind == 0 and work.uses_tc)
        kernels = share(lambda work: work.kind == 0)
        active = share(lambda work: True)
        return [active, tensor, kernels - tensor, active - kernels]
