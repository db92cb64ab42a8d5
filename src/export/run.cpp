#include "export/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace dlkprof::exports {
namespace {

constexpr std::size_t kLongestTitle = 200;  // bytes

std::vector<std::uint32_t> ops_of_ranges(const model::Profile& profile) {
  std::vector<std::uint32_t> ops(profile.timeline.ranges.size(), model::kNone);
  for (const model::OpInstance& instance : profile.fold.instances) {
    if (instance.range < ops.size()) ops[instance.range] = instance.op;
  }
  return ops;
}

}  // namespace

RunIndex::RunIndex(const model::Profile& profile)
    : profile_(&profile),
      op_of_range_(ops_of_ranges(profile)),
      works_(profile.timeline.activities.size(), profile.timeline.calls.size(),
             [&profile](std::size_t i) { return profile.timeline.activities[i].call; }) {}

std::uint32_t RunIndex::op_of_activity(std::size_t activity) const {
  return profile_->fold.instances[profile_->fold.activity_instance[activity]].op;
}

std::optional<std::string> fact_of(const model::Timeline& timeline, const std::string& name) {
  const auto found = std::find_if(timeline.facts.begin(), timeline.facts.end(),
                                  [&name](const capture::Fact& fact) { return fact.name == name; });
  return found == timeline.facts.end() ? std::nullopt : std::optional(found->value);
}

std::optional<std::uint32_t> rank_of(const model::Timeline& timeline) {
  const std::optional<std::string> text = fact_of(timeline, "rank");
  std::uint32_t rank = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), rank).ec != std::errc{}) return std::nullopt;
  return rank;
}

std::string command_line(const model::Process& process) {
  std::string line = fmt::format("{}", fmt::join(process.record.arguments, " "));
  if (line.size() > kLongestTitle) line = line.substr(0, kLongestTitle) + "...";
  return valid_utf8(line);
}

std::string architecture(const model::Timeline& timeline, const model::Config& config) {
  const capture::DeviceRecord* device = model::device_of(timeline, config);
  return device == nullptr ? "" : fmt::format("sm_{}{}", device->cc_major, device->cc_minor);
}

std::int64_t on_wall_clock(const model::Process& process, std::int64_t ns) {
  // Unsigned: clocks come from files, which may say anything.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + static_cast<std::uint64_t>(process.clock.unix_ns) -
                                   static_cast<std::uint64_t>(process.clock.monotonic_ns));
}

std::int64_t clock_shift(const model::Process& process, const model::Process& reference) {
  if (process.record.host == reference.record.host) return 0;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(on_wall_clock(process, 0)) -
                                   static_cast<std::uint64_t>(on_wall_clock(reference, 0)));
}

}  // namespace dlkprof::exports
