// NVTX ranges and CUDA calls of a file of Nsight Systems, and which range each lies in.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "capture/message.h"
#include "export/nsys_reader.h"
#include "export/nsys_tables.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::exports::nsys {

using model::kNone;

void NsysReader::read_ranges() {
  std::map<std::int64_t, std::string> domains;
  Rows named(connection_, "NVTX_EVENTS", {"eventType"}, {"domainId", "text", "textId"});
  while (named.next()) {
    if (named.integer(0) != kDomain || !named.has(1)) continue;
    domains.emplace(named.integer(1), valid_utf8(named.has(2) ? named.text(2) : text_of(named.integer(3))));
  }
  Rows rows(connection_, "NVTX_EVENTS", {"start", "eventType"}, {"end", "text", "textId", "globalTid", "domainId"});
  std::array<char, 4096> room{};
  while (rows.next()) {
    const std::int64_t type = rows.integer(1);
    if (type != kPushPop && type != kStartEnd && type != kMark) continue;
    model::Range range;
    range.kind = type == kMark       ? capture::RangeKind::mark
                 : type == kStartEnd ? capture::RangeKind::start_end
                                     : capture::RangeKind::push_pop;
    range.start_ns = rows.integer(0);
    range.closed = type == kMark || rows.has(2);
    range.end_ns = rows.has(2) && type != kMark ? rows.integer(2) : range.start_ns;
    if (!rows.has(5) || !is_interval(range.start_ns, range.end_ns)) {
      notices_.count("Ranges without a thread, or with times that cannot be, left out");
      continue;
    }
    range.thread = thread_of(rows.integer(5));
    const std::string message = rows.has(3) ? valid_utf8(rows.text(3)) : text_of(rows.integer(4));
    const capture::SplitMessage parts = capture::split_message(message, room);
    range.message = texts_.intern(parts.text);
    range.sequence = parts.sequence;
    range.op_id = parts.op_id;
    if (const auto domain = domains.find(rows.integer(6)); domain != domains.end()) range.domain = texts_.intern(domain->second);
    timeline_.ranges.push_back(range);
  }
}

// By start on each thread, an outer range before those in it. What is in a range that was never closed shows how long it was
// open.
void NsysReader::find_parents() {
  std::vector<model::Range>& ranges = timeline_.ranges;
  std::stable_sort(ranges.begin(), ranges.end(), [](const model::Range& a, const model::Range& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<std::int64_t> last(timeline_.threads.size());
  for (const model::Range& range : ranges) last[range.thread] = std::max(last[range.thread], range.end_ns);
  for (const model::Call& call : timeline_.calls) last[call.thread] = std::max(last[call.thread], call.end_ns);
  for (model::Range& range : ranges) {
    if (!range.closed) range.end_ns = std::max(range.start_ns, last[range.thread]);
  }
  std::vector<std::vector<std::uint32_t>> open(timeline_.threads.size());
  const auto innermost = [&](std::uint32_t thread, std::int64_t start, std::int64_t end) {
    std::vector<std::uint32_t>& stack = open[thread];
    while (!stack.empty() && ranges[stack.back()].end_ns < std::max(start, end)) {
      if (ranges[stack.back()].end_ns >= start) break;  // it crosses: put_in_order() looks further out
      stack.pop_back();
    }
    return stack.empty() ? kNone : stack.back();
  };
  std::uint32_t call = 0;
  const auto place_calls = [&](std::int64_t before) {
    for (; call < timeline_.calls.size() && timeline_.calls[call].start_ns < before; ++call) {
      model::Call& it = timeline_.calls[call];
      it.range = innermost(it.thread, it.start_ns, it.start_ns);
    }
  };
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    place_calls(ranges[i].start_ns);
    ranges[i].parent = innermost(ranges[i].thread, ranges[i].start_ns, ranges[i].end_ns);
    if (ranges[i].kind != capture::RangeKind::mark) open[ranges[i].thread].push_back(i);
  }
  place_calls(model::kMostNs);
}

void NsysReader::read_calls() {
  Rows rows(connection_, "CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "nameId"}, {"globalTid", "correlationId"},
            "start, end DESC");
  while (rows.next()) {
    if (!rows.has(3) || !is_interval(rows.integer(0), rows.integer(1))) {
      notices_.count("CUDA calls without a thread, or with times that cannot be, left out");
      continue;
    }
    const std::int64_t thread = rows.integer(3);
    const auto index = static_cast<std::uint32_t>(timeline_.calls.size());
    timeline_.calls.push_back(
        {rows.integer(0), rows.integer(1), kNone, thread_of(thread), texts_.intern(text_of(rows.integer(2)))});
    if (rows.has(4)) calls_.emplace(CallName{pid_of(thread), rows.integer(4)}, index);
  }
}

}  // namespace dlkprof::exports::nsys
