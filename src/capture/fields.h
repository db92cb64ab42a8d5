// The fields of each record, in the order of the file: the one list that writing and reading share.
//
// fields(visit, record) calls visit with all members of a record and returns what it returns. The structured
// bindings name every member, so a member added to a record and forgotten here does not compile.
#pragma once

#include <concepts>
#include <type_traits>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

template <typename T, typename Of>
concept Either = std::same_as<std::remove_const_t<T>, Of>;  // const where it is written, not where it is read

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<ProcessRecord> auto& record) {
  auto& [pid, parent_pid, start, host, arguments, version, cupti, driver, options, graph_nodes] = record;
  return visit(pid, parent_pid, start, host, arguments, version, cupti, driver, options, graph_nodes);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<DeviceRecord> auto& record) {
  auto& [index, name, chip, pci, cc_major, cc_minor, sms, warp, sm_threads, block_threads, sm_blocks, sm_registers,
         block_registers, sm_shared, block_shared, optin_shared, reserved_shared, l2, memory, sm_clock, memory_clock] = record;
  return visit(index, name, chip, pci, cc_major, cc_minor, sms, warp, sm_threads, block_threads, sm_blocks, sm_registers,
               block_registers, sm_shared, block_shared, optin_shared, reserved_shared, l2, memory, sm_clock, memory_clock);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<FunctionRecord> auto& record) {
  auto& [id, name, registers, shared, local, constant, max_threads, carveout, binary] = record;
  return visit(id, name, registers, shared, local, constant, max_threads, carveout, binary);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<Dim3> auto& dim) {
  auto& [x, y, z] = dim;
  return visit(x, y, z);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<LaunchKey> auto& key) {
  auto& [device, function, grid, block, cluster, shared] = key;
  return visit(device, function, grid, block, cluster, shared);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<MetricSetRecord> auto& record) {
  auto& [id, device, passes, metrics, unavailable] = record;
  return visit(id, device, passes, metrics, unavailable);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<LaunchRecord> auto& record) {
  auto& [index, key, occurrence, context, stream, thread, set, mode, cache, passes, start, cost, values] = record;
  return visit(index, key, occurrence, context, stream, thread, set, mode, cache, passes, start, cost, values);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<RawCountersRecord> auto& record) {
  auto& [index, set, bytes, image, base] = record;
  return visit(index, set, bytes, image, base);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<KeyStats> auto& stats) {
  auto& [key, launches, matched, measured, near_missed, skipped, reason, timed, timed_ns] = stats;
  return visit(key, launches, matched, measured, near_missed, skipped, reason, timed, timed_ns);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<KeyStatsRecord> auto& record) {
  auto& [keys, graphs, graph_ns, complete] = record;
  return visit(keys, graphs, graph_ns, complete);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<NoticeRecord> auto& record) {
  auto& [severity, what, detail, remedy] = record;
  return visit(severity, what, detail, remedy);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<EndRecord> auto& record) {
  auto& [end, launches] = record;
  return visit(end, launches);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<InternedString> auto& record) {
  auto& [id, text] = record;
  return visit(id, text);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<StringsRecord> auto& record) {
  auto& [strings] = record;
  return visit(strings);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<EventsRecord> auto& record) {
  auto& [kind, count, bytes, columns] = record;
  return visit(kind, count, bytes, columns);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<RangeEvent> auto& event) {
  auto& [id, parent, thread, domain, name, category, kind, start, end, payload_type, payload, sequence, op_id] = event;
  return visit(id, parent, thread, domain, name, category, kind, start, end, payload_type, payload, sequence, op_id);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<CallEvent> auto& event) {
  auto& [correlation, thread, range, name, start, end, launch, function, held] = event;
  return visit(correlation, thread, range, name, start, end, launch, function, held);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<ActivityEvent> auto& event) {
  auto& [kind, correlation, start, end, device, context, stream, node, name, grid, block, cluster, shared, copy, bytes,
         function] = event;
  return visit(kind, correlation, start, end, device, context, stream, node, name, grid, block, cluster, shared, copy, bytes,
               function);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<GraphEvent> auto& event) {
  auto& [kind, id, original, graph, range, capture_range] = event;
  return visit(kind, id, original, graph, range, capture_range);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<Fact> auto& fact) {
  auto& [source, name, value] = fact;
  return visit(source, name, value);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<FactsRecord> auto& record) {
  auto& [facts] = record;
  return visit(facts);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<ClockRecord> auto& record) {
  auto& [monotonic, unix_time] = record;
  return visit(monotonic, unix_time);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<AbsenceRecord> auto& record) {
  auto& [start, end] = record;
  return visit(start, end);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<StepTimes> auto& steps) {
  auto& [marker, times] = steps;
  return visit(marker, times);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<DetachRecord> auto& record) {
  auto& [since, until, left, steps] = record;
  return visit(since, until, left, steps);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<SamplesRecord> auto& record) {
  auto& [set, interval, count, lost, bytes, columns] = record;
  return visit(set, interval, count, lost, bytes, columns);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcStall> auto& stall) {
  auto& [reason, samples] = stall;
  return visit(reason, samples);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcCount> auto& count) {
  auto& [function, offset, stalls] = count;
  return visit(function, offset, stalls);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcSamplesRecord> auto& record) {
  auto& [device, period, samples, foreign, dropped, overflows, counts] = record;
  return visit(device, period, samples, foreign, dropped, overflows, counts);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcReason> auto& reason) {
  auto& [id, name] = reason;
  return visit(id, name);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcFunction> auto& function) {
  auto& [id, crc, name] = function;
  return visit(id, crc, name);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcLine> auto& place) {
  auto& [function, offset, file, line] = place;
  return visit(function, offset, file, line);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcNamesRecord> auto& record) {
  auto& [reasons, functions, files, lines] = record;
  return visit(reasons, functions, files, lines);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<PcCodeRecord> auto& record) {
  auto& [functions, bytes, elf] = record;
  return visit(functions, bytes, elf);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<SassValue> auto& value) {
  auto& [metric, count] = value;
  return visit(metric, count);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<SassCount> auto& count) {
  auto& [function, offset, values] = count;
  return visit(function, offset, values);
}

template <typename Visit>
constexpr auto fields(Visit&& visit, Either<SassCountsRecord> auto& record) {
  auto& [launch, key, metrics, counts] = record;
  return visit(launch, key, metrics, counts);
}

}  // namespace dlkprof::capture
