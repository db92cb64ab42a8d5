#include "model/fold/compiled_code.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"

namespace dlkprof::model {
namespace {

using nlohmann::json;

constexpr std::string_view kSource = "pytorch";
constexpr std::string_view kPrefix = "compiled.";
constexpr std::string_view kCall = "## Call CompiledFxGraph ";
constexpr std::string_view kCallEnd = " ##";
constexpr std::string_view kNoKey = "None";  // as Python writes it into the range

struct PartName {
  std::string_view key;
  std::uint32_t part = 0;
};

std::optional<PartName> part_name(const capture::Fact& fact) {
  const std::string_view name = fact.name;
  if (fact.source != kSource || !name.starts_with(kPrefix)) return std::nullopt;
  const std::size_t dot = name.rfind('.');
  if (dot <= kPrefix.size()) return std::nullopt;
  PartName found{.key = name.substr(kPrefix.size(), dot - kPrefix.size())};
  const auto [end, error] = std::from_chars(name.data() + dot + 1, name.data() + name.size(), found.part);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(found) : std::nullopt;
}

// "" where there is no such text.
std::string text_at(const json& array, std::size_t index) {
  if (!array.is_array() || index >= array.size() || !array[index].is_string()) return "";
  return printable(array[index].get_ref<const std::string&>(), kMostCompiledText);
}

// `stacks_before`: of the parts before; `stacks`: of this one.
std::optional<CompiledLaunch> read_launch(const json& row, std::size_t stacks_before, std::size_t stacks) {
  CompiledLaunch launch{.kernel = text_at(row, 0)};
  if (launch.kernel.empty()) return std::nullopt;
  launch.root = text_at(row, 1);
  if (launch.root.starts_with('*')) {
    launch.root.erase(0, 1);
    launch.root_is_called = true;
  }
  launch.module = text_at(row, 2);
  launch.ops = text_at(row, 3);
  const bool has_stack = row.size() > 4 && row[4].is_number_unsigned() && row[4].get<std::uint64_t>() < stacks;
  if (has_stack) launch.stack = static_cast<std::uint32_t>(stacks_before + row[4].get<std::size_t>());
  return launch;
}

// Adds what a fact says, at most so many launches; what cannot be read is left out.
void read_part(const std::string& text, std::size_t most, CompiledGraph& graph) {
  const json part = json::parse(text, nullptr, false);
  if (!part.is_object() || !part.contains("launches") || !part["launches"].is_array()) return;
  const std::size_t before = graph.stacks.size();
  if (part.contains("stacks") && part["stacks"].is_array()) {
    for (std::size_t i = 0; i < part["stacks"].size(); ++i) graph.stacks.push_back(text_at(part["stacks"], i));
  }
  for (const json& row : part["launches"]) {
    if (most-- == 0) break;
    if (std::optional<CompiledLaunch> launch = read_launch(row, before, graph.stacks.size() - before)) {
      graph.launches.push_back(*std::move(launch));
    }
  }
}

}  // namespace

CompiledCode::CompiledCode(std::span<const capture::Fact> facts) {
  std::map<std::pair<std::string_view, std::uint32_t>, const std::string*> parts;
  for (const capture::Fact& fact : facts) {
    if (const auto name = part_name(fact)) parts.try_emplace({name->key, name->part}, &fact.value);
  }
  std::size_t launches = 0;
  for (const auto& [name, text] : parts) {
    CompiledGraph& graph = graphs_[std::string(name.first)];
    const std::size_t before = graph.launches.size();
    read_part(*text, kMostCompiledLaunches - launches, graph);
    launches += graph.launches.size() - before;
  }
}

std::vector<const CompiledGraph*> CompiledCode::of_key(std::string_view key) const {
  std::vector<const CompiledGraph*> found;
  if (key == kNoKey) {
    for (auto graph = graphs_.lower_bound("-"); graph != graphs_.end() && graph->first.starts_with('-'); ++graph) {
      found.push_back(&graph->second);
    }
  } else if (const auto graph = graphs_.find(key); graph != graphs_.end()) {
    found.push_back(&graph->second);
  }
  return found;
}

std::string_view compiled_graph_key(std::string_view message) {
  const std::size_t begin = message.find(kCall);
  if (begin == std::string_view::npos) return {};
  message.remove_prefix(begin + kCall.size());
  const std::size_t end = message.find(kCallEnd);
  return end == std::string_view::npos ? std::string_view() : message.substr(0, end);
}

}  // namespace dlkprof::model
