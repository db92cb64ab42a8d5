#include "model/fold/token_lengths.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

constexpr std::string_view kEmbedding = "aten::embedding";
constexpr std::size_t kLeastDecodeSteps = 2;

// Of each range the outermost module around it, or itself; kNone: none.
std::vector<std::uint32_t> find_root_modules(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts) {
  std::vector<std::uint32_t> roots(timeline.ranges.size(), kNone);
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    const std::uint32_t parent = timeline.ranges[i].parent;
    if (parent != kNone) roots[i] = roots[parent];
    if (roots[i] != kNone || !markers.counts(i)) continue;
    const Signature& signature = markers.signature(i);
    if (signature.framework == Framework::dlkprof && texts[signature.type] == "module") roots[i] = i;
  }
  return roots;
}

// Calls of one module, in their order.
struct CalledModule {
  std::vector<std::uint32_t> calls;  // indices into Timeline::ranges
  std::vector<TokenUse> uses;
  std::int64_t gpu_ns = 0;
};

using CalledModules = std::map<std::uint32_t, CalledModule>;  // by name

CalledModules find_called_modules(const Timeline& timeline, const RangeMarkers& markers, const std::vector<std::uint32_t>& roots,
                                  const std::vector<TokenUse>& uses) {
  std::vector<TokenUse> of_root(roots.size(), TokenUse::unknown);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i] != kNone) of_root[roots[i]] = of_root[roots[i]] + uses[i];
  }
  CalledModules modules;
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    if (roots[i] != i) continue;
    CalledModule& module = modules[markers.signature(i).name];
    module.calls.push_back(i);
    module.uses.push_back(of_root[i]);
  }
  for (const Activity& activity : timeline.activities) {
    if (activity.call == kNone || timeline.calls[activity.call].range == kNone) continue;
    const std::uint32_t root = roots[timeline.calls[activity.call].range];
    if (root != kNone) add_ns(modules[markers.signature(root).name].gpu_ns, gpu_ns(activity));
  }
  return modules;
}

KeyNode module_key_node(const Timeline& timeline, const CalledModule& module, std::string name) {
  const std::vector<std::uint32_t> devices = find_range_devices(timeline);
  std::vector<KeyInstance> instances;
  for (const std::uint32_t call : module.calls) {
    const Range& range = timeline.ranges[call];
    instances.push_back({range.end_ns, range.thread, devices.empty() ? kNone : devices[call]});
  }
  return {std::move(name), KeyNodeSource::framework, find_stops(timeline, std::move(instances))};
}

}  // namespace

TokenUse token_use_of(std::string_view shapes) {
  const std::size_t weight = shapes.find("], [");  // where the first input's shape ends
  if (!shapes.starts_with("[[") || weight == std::string_view::npos) return TokenUse::unknown;
  const std::string_view rest = shapes.substr(weight + 4);
  const std::string_view indices = rest.substr(0, rest.find(']'));
  const std::size_t comma = indices.rfind(", ");
  if (comma == std::string_view::npos || indices.size() == rest.size()) return TokenUse::unknown;
  const std::string_view length = indices.substr(comma + 2);
  const bool is_number = !length.empty() && length.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number || length.find_first_not_of('0') == std::string_view::npos) return TokenUse::unknown;
  return length == "1" ? TokenUse::one : TokenUse::many;
}

std::vector<TokenUse> find_token_uses(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts) {
  const auto is_embedding = [&](const Signature& signature) {
    return signature.framework == Framework::pytorch && texts[signature.type] == kEmbedding;
  };
  if (std::none_of(markers.signatures().begin(), markers.signatures().end(), is_embedding)) return {};
  std::vector<TokenUse> uses(timeline.ranges.size(), TokenUse::unknown);
  std::map<std::uint32_t, TokenUse> of_message;  // by index into Timeline::strings
  bool any = false;
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    if (!markers.counts(i) || !is_embedding(markers.signature(i))) continue;
    const std::uint32_t message = timeline.ranges[i].message;
    const auto [known, is_new] = of_message.try_emplace(message, TokenUse::unknown);
    if (is_new) known->second = token_use_of(parse_marker("", timeline.strings[message]).shapes);
    uses[i] = known->second;
    any = any || uses[i] != TokenUse::unknown;
  }
  if (!any) uses.clear();
  return uses;
}

bool shows_generation(const std::vector<TokenUse>& calls) {
  const auto steps = std::count(calls.begin(), calls.end(), TokenUse::one);
  const auto begins = [](TokenUse before, TokenUse after) { return before == TokenUse::many && after == TokenUse::one; };
  return static_cast<std::size_t>(steps) >= kLeastDecodeSteps &&
         std::adjacent_find(calls.begin(), calls.end(), begins) != calls.end();
}

std::optional<KeyNode> find_generating_module(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts) {
  const std::vector<TokenUse> uses = find_token_uses(timeline, markers, texts);
  if (uses.empty()) return std::nullopt;
  const CalledModules modules = find_called_modules(timeline, markers, find_root_modules(timeline, markers, texts), uses);
  const CalledModules::value_type* best = nullptr;
  for (const CalledModules::value_type& one : modules) {
    if (!shows_generation(one.second.uses)) continue;
    if (best == nullptr || one.second.gpu_ns > best->second.gpu_ns) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(module_key_node(timeline, best->second, texts[best->first]));
}

}  // namespace dlkprof::model
