"""Reads traces of Perfetto with nothing but the field numbers that its protos publish: none of it shares code or tables with
what writes them.

SCHEMA names, of the messages that matter here, each field by its number: (name, kind), with a kind of "uint", "double", "fixed64",
"text" or the name of another message. A field that is not there fails: a writer is to write nothing that nobody knows.
"""

import collections
import gzip
import struct

SCHEMA = {
    "Trace": {1: ("packet", "TracePacket")},
    "TracePacket": {
        6: ("clock_snapshot", "ClockSnapshot"), 8: ("timestamp", "uint"), 10: ("trusted_packet_sequence_id", "uint"),
        11: ("track_event", "TrackEvent"), 12: ("interned_data", "InternedData"), 13: ("sequence_flags", "uint"),
        52: ("gpu_counter_event", "GpuCounterEvent"), 53: ("gpu_render_stage_event", "GpuRenderStageEvent"),
        60: ("track_descriptor", "TrackDescriptor"), 128: ("gpu_info", "GpuInfo"),
    },
    "ClockSnapshot": {1: ("clocks", "Clock"), 2: ("primary_trace_clock", "uint")},
    "Clock": {1: ("clock_id", "uint"), 2: ("timestamp", "uint")},
    "TrackDescriptor": {
        1: ("uuid", "uint"), 2: ("name", "text"), 3: ("process", "ProcessDescriptor"), 4: ("thread", "ThreadDescriptor"),
        5: ("parent_uuid", "uint"), 8: ("counter", "CounterDescriptor"), 14: ("description", "text"),
    },
    "ProcessDescriptor": {1: ("pid", "uint"), 6: ("process_name", "text")},
    "ThreadDescriptor": {1: ("pid", "uint"), 2: ("tid", "uint"), 5: ("thread_name", "text")},
    "CounterDescriptor": {6: ("unit_name", "text"), 7: ("y_axis_share_key", "text")},
    "TrackEvent": {
        3: ("category_iids", "uint"), 4: ("debug_annotations", "DebugAnnotation"), 9: ("type", "uint"), 10: ("name_iid", "uint"),
        11: ("track_uuid", "uint"), 23: ("name", "text"), 44: ("double_counter_value", "double"),
        3000: ("gpu_correlation", "GpuCorrelation"), 3001: ("gpu_api", "uint"),
    },
    "GpuCorrelation": {1: ("render_stage_submission_event_ids", "uint")},
    "DebugAnnotation": {1: ("name_iid", "uint"), 3: ("uint_value", "uint"), 17: ("string_value_iid", "uint")},
    "InternedData": {
        1: ("event_categories", "InternedName"), 2: ("event_names", "InternedName"), 3: ("debug_annotation_names", "InternedName"),
        23: ("graphics_contexts", "GraphicsContext"), 24: ("gpu_specifications", "Specification"),
        29: ("debug_annotation_string_values", "InternedName"), 47: ("gpu_counter_descriptors", "InternedCounters"),
        1000: ("compute_kernels", "ComputeKernel"), 1001: ("compute_arg_names", "InternedName"),
    },
    "InternedName": {1: ("iid", "uint"), 2: ("name", "text")},
    "GraphicsContext": {1: ("iid", "uint"), 2: ("pid", "uint"), 3: ("api", "uint")},
    "Specification": {1: ("iid", "uint"), 2: ("name", "text"), 4: ("category", "uint")},
    "ComputeKernel": {
        1: ("iid", "uint"), 2: ("name", "text"), 3: ("demangled_name", "text"), 4: ("arch", "text"), 5: ("args", "ComputeArg"),
    },
    "ComputeArg": {
        1: ("name_iid", "uint"), 2: ("name", "text"), 4: ("uint_value", "uint"), 5: ("double_value", "double"),
        6: ("string_value", "text"), 7: ("string_value_iid", "uint"),
    },
    "InternedCounters": {1: ("iid", "uint"), 2: ("counter_descriptor", "GpuCounterDescriptor"), 3: ("gpu_id", "uint")},
    "GpuCounterDescriptor": {1: ("specs", "GpuCounterSpec"), 6: ("counter_groups", "GpuCounterGroupSpec")},
    "GpuCounterSpec": {
        1: ("counter_id", "uint"), 2: ("name", "text"), 7: ("numerator_units", "uint"), 8: ("denominator_units", "uint"),
        10: ("groups", "uint"), 11: ("value_direction", "uint"),
    },
    "GpuCounterGroupSpec": {1: ("group_id", "uint"), 2: ("name", "text"), 3: ("description", "text"), 4: ("counter_ids", "uint")},
    "GpuCounterEvent": {2: ("counters", "GpuCounter"), 3: ("gpu_id", "uint"), 4: ("counter_descriptor_iid", "uint")},
    "GpuCounter": {1: ("counter_id", "uint"), 3: ("double_value", "double")},
    "GpuRenderStageEvent": {
        1: ("event_id", "uint"), 2: ("duration", "uint"), 5: ("context", "uint"), 6: ("extra_data", "ExtraData"),
        11: ("gpu_id", "uint"), 13: ("hw_queue_iid", "uint"), 14: ("stage_iid", "uint"), 19: ("kernel_iid", "uint"),
        20: ("name_iid", "uint"), 21: ("launch", "ComputeKernelLaunch"),
    },
    "ExtraData": {1: ("name", "text"), 2: ("value", "text")},
    "ComputeKernelLaunch": {1: ("grid_size", "Dim3"), 2: ("workgroup_size", "Dim3"), 3: ("args", "ComputeArg")},
    "Dim3": {1: ("x", "uint"), 2: ("y", "uint"), 3: ("z", "uint")},
    "GpuInfo": {1: ("gpus", "Gpu")},
    "Gpu": {
        1: ("name", "text"), 2: ("vendor", "text"), 3: ("model", "text"), 4: ("architecture", "text"), 7: ("pci_bdf", "text"),
    },
}  # fmt: skip
WIRE = {"uint": 0, "double": 1, "fixed64": 1}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def decode(message, data):
    """A message as a dictionary of lists: every field may be repeated."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = SCHEMA[message][tag >> 3]
        if tag & 7 != WIRE.get(kind, 2):
            raise ValueError(f"{message}.{name}: wire type {tag & 7}")
        if kind == "uint":
            value, at = varint(data, at)
        elif kind in WIRE:
            value, at = struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0], at + 8
        else:
            length, at = varint(data, at)
            if at + length > len(data):
                raise ValueError(f"{message}.{name} ends after its message")
            piece, at = data[at : at + length], at + length
            value = piece.decode("utf-8") if kind == "text" else decode(kind, piece)
        fields.setdefault(name, []).append(value)
    return fields


def only(fields, name, default=None):
    values = fields.get(name, [default])
    if len(values) != 1:
        raise ValueError(f"{name} is there {len(values)} times")
    return values[0]


Slice = collections.namedtuple("Slice", "track name category start end args works depth")
Stage = collections.namedtuple("Stage", "id start duration gpu name stage queue pid kernel launch args")


class PerfettoTrace:
    """The events of a trace with everything that they refer to looked up, as trace_processor does it."""

    def __init__(self, path):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        self.packets = decode("Trace", data)["packet"]
        self.tracks, self.slices, self.instants, self.stages, self.values = {}, [], [], [], collections.defaultdict(list)
        self.gpu_counters = collections.defaultdict(list)  # (gpu, metric) -> [(ns, value)]
        self.specs, self.gpus, self.clocks = {}, [], {}
        self._interned = collections.defaultdict(dict)
        self._events = collections.defaultdict(list)
        for packet in self.packets:
            self._read(packet)
        for track, events in self._events.items():
            self._nest(track, events)

    def _read(self, packet):
        sequence = only(packet, "trusted_packet_sequence_id")
        if sequence == 0:
            raise ValueError("a packet without a sequence")
        for data in packet.get("interned_data", []):
            for table, entries in data.items():
                known = self._interned[sequence, table]
                for entry in entries:
                    if only(entry, "iid") in known:
                        raise ValueError(f"{table} {only(entry, 'iid')} is interned twice")
                    known[only(entry, "iid")] = entry
        for snapshot in packet.get("clock_snapshot", []):
            self.clocks = {only(clock, "clock_id"): only(clock, "timestamp") for clock in snapshot["clocks"]}
        for info in packet.get("gpu_info", []):
            self.gpus += info["gpus"]
        for descriptor in packet.get("track_descriptor", []):
            uuid = only(descriptor, "uuid")
            if uuid in self.tracks or uuid == 0:
                raise ValueError(f"track {uuid} is described twice")
            self.tracks[uuid] = descriptor
        at = only(packet, "timestamp")
        for event in packet.get("track_event", []):
            if only(event, "type") == COUNTER:
                self.values[only(event, "track_uuid")].append((at, only(event, "double_counter_value")))
            else:
                self._events[only(event, "track_uuid")].append((at, sequence, event))
        for event in packet.get("gpu_render_stage_event", []):
            self.stages.append(self._stage(sequence, at, event))
        for event in packet.get("gpu_counter_event", []):
            self._count(sequence, at, event)

    def _look_up(self, sequence, table, iid, field="name"):
        return only(self._interned[sequence, table][iid], field)

    def _annotations(self, sequence, event):
        args = {}
        for annotation in event.get("debug_annotations", []):
            value = only(annotation, "uint_value")
            if value is None:
                value = self._look_up(sequence, "debug_annotation_string_values", only(annotation, "string_value_iid"))
            args[self._look_up(sequence, "debug_annotation_names", only(annotation, "name_iid"))] = value
        return args

    def _nest(self, track, events):
        open_slices = []
        # By time; those of one time stay in their order.
        for at, sequence, event in sorted(events, key=lambda one: one[0]):
            if only(event, "type") == END:
                start, begun = open_slices.pop()
                begun["end"] = at
                self.slices.append(Slice(track, begun["name"], begun["category"], start, at, begun["args"], begun["works"],
                                         len(open_slices)))  # fmt: skip
                continue
            name = only(event, "name") or self._look_up(sequence, "event_names", only(event, "name_iid"))
            category = self._look_up(sequence, "event_categories", only(event, "category_iids"))
            works = only(event, "gpu_correlation", {}).get("render_stage_submission_event_ids", [])
            begun = {"name": name, "category": category, "args": self._annotations(sequence, event), "works": works}
            if only(event, "type") == INSTANT:
                self.instants.append(Slice(track, name, category, at, at, begun["args"], works, len(open_slices)))
            else:
                open_slices.append((at, begun))
        if open_slices:
            raise ValueError(f"{len(open_slices)} slices of track {track} never end")

    def _args(self, sequence, arguments):
        values = {}
        for argument in arguments:
            name = only(argument, "name") or self._look_up(sequence, "compute_arg_names", only(argument, "name_iid"))
            if "string_value_iid" in argument:
                value = self._look_up(sequence, "debug_annotation_string_values", only(argument, "string_value_iid"))
            else:
                value = next(only(argument, kind) for kind in ("uint_value", "double_value", "string_value") if kind in argument)
            values[name] = value
        return values

    def _stage(self, sequence, at, event):
        launch = only(event, "launch", {})
        kernel = self._interned[sequence, "compute_kernels"].get(only(event, "kernel_iid"))
        args = self._args(sequence, launch.get("args", [])) | self._args(sequence, (kernel or {}).get("args", []))
        args |= {only(extra, "name"): only(extra, "value") for extra in event.get("extra_data", [])}
        context = self._interned[sequence, "graphics_contexts"][only(event, "context")]
        specifications = self._interned[sequence, "gpu_specifications"]
        return Stage(only(event, "event_id"), at, only(event, "duration"), only(event, "gpu_id"),
                     self._look_up(sequence, "event_names", only(event, "name_iid")), specifications[only(event, "stage_iid")],
                     specifications[only(event, "hw_queue_iid")], only(context, "pid"), kernel, launch, args)  # fmt: skip

    def _count(self, sequence, at, event):
        entry = self._interned[sequence, "gpu_counter_descriptors"][only(event, "counter_descriptor_iid")]
        gpu = only(event, "gpu_id")
        if gpu != only(entry, "gpu_id"):
            raise ValueError("a counter of another GPU")
        specs = {only(spec, "counter_id"): spec for spec in only(entry, "counter_descriptor")["specs"]}
        for counter in event.get("counters", []):
            spec = specs[only(counter, "counter_id")]
            self.specs[only(spec, "name")] = spec
            self.gpu_counters[gpu, only(spec, "name")].append((at, only(counter, "double_value")))
