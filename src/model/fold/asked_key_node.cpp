#include "model/fold/asked_key_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::model {
namespace {

using Choice = std::vector<bool>;  // of each op

constexpr const char* kRemedy = "The detail report lists the names and ids of all ops.";

// Ops that `matches` says yes to; none where there are no such.
template <typename Matches>
std::optional<Choice> select(const std::vector<Op>& ops, Matches matches) {
  Choice choice(ops.size());
  bool any = false;
  for (std::size_t i = 0; i < ops.size(); ++i) any |= choice[i] = matches(i);
  return any ? std::optional(std::move(choice)) : std::nullopt;
}

std::string unknown_message(const std::string& asked, const std::vector<Op>& ops, const std::vector<std::string>& marker_names) {
  constexpr std::size_t kMostCandidates = 20'000, kMostBytes = 512;  // the distance takes the square of the length
  std::vector<std::string> candidates;
  const auto offer = [&](const std::string& name) {
    const auto apart = std::abs(static_cast<std::ptrdiff_t>(name.size()) - static_cast<std::ptrdiff_t>(asked.size()));
    const bool near = name.size() <= kMostBytes && static_cast<std::size_t>(apart) <= asked.size() / 3;
    if (near && candidates.size() < kMostCandidates) candidates.push_back(name);
  };
  for (std::size_t i = 0; i < ops.size() && asked.size() <= kMostBytes; ++i) {
    for (const std::string* name : {&ops[i].id, &ops[i].name, &ops[i].type, &marker_names[i]}) offer(*name);
  }
  const std::string near = closest(asked, candidates);
  return near.empty() ? kRemedy : fmt::format("Did you mean {}? {}", printable(near), kRemedy);
}

std::string several_message(const std::vector<Op>& ops, const Choice& choice) {
  constexpr std::size_t kMostNamed = 5;
  std::string text = "Name one of them by its id:";
  std::size_t named = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!choice[i]) continue;
    if (named++ == kMostNamed) return text + " ... " + kRemedy;
    text += fmt::format(" {} ({})", printable(ops[i].id), printable(ops[i].name));
  }
  return text + ".";
}

Choice choose(const std::string& asked, const std::vector<Op>& ops, const std::vector<std::string>& marker_names) {
  if (auto by_id = select(ops, [&](std::size_t i) { return ops[i].id == asked; })) return *by_id;
  // A backward op is called as its forward op, which is the one that is meant.
  const auto is_backward = [&](std::size_t i) { return ops[i].direction == Direction::bprop; };
  if (auto by_name = select(ops, [&](std::size_t i) { return ops[i].name == asked && !is_backward(i); })) return *by_name;
  auto by_marker = select(ops, [&](std::size_t i) { return marker_names[i] == asked && !is_backward(i); });
  if (!by_marker) by_marker = select(ops, [&](std::size_t i) { return ops[i].type == asked; });
  if (!by_marker) {
    throw UsageError(fmt::format("No op is called {}", printable(asked)), "--key_node",
                     unknown_message(asked, ops, marker_names));
  }
  if (std::count(by_marker->begin(), by_marker->end(), true) > 1) {
    throw UsageError(fmt::format("Several ops are called {}", printable(asked)), "--key_node", several_message(ops, *by_marker));
  }
  return *by_marker;
}

// Of each op instance that is no range, the device of its work; kNone where it has none.
std::vector<std::uint32_t> find_outside_devices(const Timeline& timeline, const Instances& instances) {
  std::vector<std::uint32_t> of_instance(instances.all.size(), kNone);
  for (std::size_t i = 0; i < timeline.activities.size(); ++i)
    of_instance[instances.activity_instance[i]] = timeline.activities[i].device;
  std::vector<std::uint32_t> devices;
  for (const Outside& outside : instances.outside) devices.push_back(of_instance[outside.instance]);
  return devices;
}

std::vector<KeyInstance> find_instances(const Timeline& timeline, const Instances& instances, const Choice& choice) {
  std::vector<KeyInstance> found;
  const std::vector<std::uint32_t> range_devices = find_range_devices(timeline);
  for (const OpInstance& instance : instances.all) {
    if (instance.range == kNone || !choice[instance.op]) continue;
    const Range& range = timeline.ranges[instance.range];
    found.push_back({range.end_ns, range.thread, range_devices.empty() ? kNone : range_devices[instance.range]});
  }
  const std::vector<std::uint32_t> outside_devices = find_outside_devices(timeline, instances);
  for (std::size_t i = 0; i < instances.outside.size(); ++i) {
    const Outside& outside = instances.outside[i];
    if (!choice[instances.all[outside.instance].op]) continue;
    const std::uint32_t thread = outside.call == kNone ? 0 : timeline.calls[outside.call].thread;
    found.push_back({outside.end_ns, thread, outside_devices[i]});
  }
  return found;
}

}  // namespace

KeyNode find_asked_key_node(const std::string& asked, const Timeline& timeline, const std::vector<Op>& ops,
                            const std::vector<std::string>& marker_names, const Instances& instances) {
  const Choice choice = choose(asked, ops, marker_names);
  return {asked, KeyNodeSource::asked, find_stops(timeline, find_instances(timeline, instances, choice))};
}

}  // namespace dlkprof::model
