#include "inject/replay/partial_counters.h"

#include <algorithm>
#include <utility>

namespace dlkprof::inject {
namespace {

// Of what may be kept: so much is left when something was given up, so that it is not to be done again soon.
constexpr std::size_t kLeftOfFour = 3;
constexpr std::uint64_t kUnknownGpuNs = 1000;

}  // namespace

void PartialCounters::add(std::size_t pass, Range range) {
  const Ledger::Entry entry = range.launch.entry;
  if (given_up_.contains(entry)) return;
  Ranges& ranges = ranges_[entry];
  ranges.of_pass.resize(passes_);
  ranges.launches = std::max<std::uint64_t>(ranges.launches, std::uint64_t{range.launch.record.occurrence} + 1);
  ranges.bytes += bytes_of(range);
  bytes_ += bytes_of(range);
  ranges.of_pass.at(pass).push_back(std::move(range));
  if (bytes_ > most_bytes_) give_up_some();
}

std::vector<PartialCounters::Range> PartialCounters::take_complete(Ledger::Entry entry) {
  const auto found = ranges_.find(entry);
  if (found == ranges_.end()) return {};
  const auto& queues = found->second.of_pass;
  if (std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return queue.empty(); })) return {};
  found->second.was_complete = true;
  Ranges& ranges = found->second;
  bytes_ -= ranges.bytes;
  auto taken = take_oldest(ranges);
  bytes_ += ranges.bytes;
  return taken;
}

std::vector<PartialCounters::Range> PartialCounters::take_incomplete() {
  while (!ranges_.empty()) {
    const auto first = ranges_.begin();
    Ranges ranges = std::move(first->second);
    ranges_.erase(first);
    bytes_ -= ranges.bytes;
    if (!ranges.was_complete) return take_oldest(ranges);
  }
  return {};
}

std::vector<PartialCounters::Range> PartialCounters::take_oldest(Ranges& ranges) {
  std::vector<Range> taken;
  for (auto& queue : ranges.of_pass) {
    if (queue.empty()) continue;
    ranges.bytes -= bytes_of(queue.front());
    taken.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return taken;
}

std::uint64_t PartialCounters::gpu_time(Ledger::Entry entry, const Ranges& ranges) const {
  const auto known = gpu_ns_.find(entry);
  return ranges.launches * (known == gpu_ns_.end() ? kUnknownGpuNs : known->second);
}

void PartialCounters::give_up_some() {
  std::vector<std::pair<std::uint64_t, Ledger::Entry>> by_time;
  for (const auto& [entry, ranges] : ranges_) by_time.emplace_back(gpu_time(entry, ranges), entry);
  std::sort(by_time.begin(), by_time.end());
  for (const auto& [time, entry] : by_time) {
    if (bytes_ <= most_bytes_ / 4 * kLeftOfFour) return;
    const auto found = ranges_.find(entry);
    bytes_ -= found->second.bytes;
    if (!found->second.was_complete) given_up_.insert(entry);
    ranges_.erase(found);
  }
}

}  // namespace dlkprof::inject
