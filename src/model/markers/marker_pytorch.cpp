// PyTorch's emit_nvtx, torch/csrc/profiler: "aten::conv2d, seq = 32, op_id = 2, sizes = [[4, 3], []], input_op_ids = [(0,-1)]",
// each field only where it is known. And the ranges that our own Python package adds.
#include <algorithm>
#include <array>
#include <charconv>

#include "capture/message.h"
#include "model/markers/marker_parsers.h"

namespace dlkprof::model::marker {
namespace {

constexpr std::string_view kInputsWord = capture::kInputsField.substr(2);  // what is long has many ", ", and few of these

// A message without fields is PyTorch's where it begins with one of these.
constexpr std::array<std::string_view, 6> kPrefixes{
    "aten::", "autograd::engine::", "torch::autograd::", "c10d::", "Optimizer.", "enumerate(DataLoader)#"};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The field of that name at the start of `fields`, which is taken away with its number.
std::optional<std::int64_t> take_number(std::string_view& fields, std::string_view field) {
  if (!take(fields, field)) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(fields.data(), fields.data() + fields.size(), number);
  fields.remove_prefix(static_cast<std::size_t>(end - fields.data()));
  return error == std::errc() && number >= 0 ? std::optional(number) : std::nullopt;  // PyTorch leaves out what it has not
}

// What stands before the inputs' ids.
std::string_view sizes_of(std::string_view fields) {
  const std::size_t inputs = fields.find(kInputsWord);
  if (inputs == std::string_view::npos) return fields;
  return fields.substr(0, std::max(inputs, std::size_t{2}) - 2);
}

// Nodes of autograd's graph: "ConvolutionBackward0", "torch::autograd::CopySlices", and what users derive from Function.
bool is_autograd_node(std::string_view name) {
  if (name.starts_with("aten::")) return false;
  const std::size_t end = name.find_last_not_of("0123456789") + 1;
  const std::string_view stem = name.substr(0, end);
  return stem.ends_with("Backward") || stem.ends_with("Backwards") || stem.starts_with("torch::autograd::");
}

struct Role {
  MarkerKind kind = MarkerKind::op;
  std::string_view type;
};

Role role_of(std::string_view name, bool has_sequence) {
  if (name.starts_with("autograd::engine::evaluate_function: "))
    return {MarkerKind::machinery, "autograd::engine::evaluate_function"};
  if (name.starts_with("enumerate(DataLoader)#")) return {MarkerKind::scope, "dataloader"};
  if (name.starts_with("Optimizer.")) return {MarkerKind::scope, name.substr(0, name.find('#'))};
  if (has_sequence && is_autograd_node(name)) return {MarkerKind::backward, name};
  return {MarkerKind::op, name};
}

}  // namespace

std::optional<Marker> parse_pytorch(std::string_view message) {
  const std::size_t end = capture::message_fields_at(message);
  const std::string_view name = message.substr(0, end);
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (end == message.size() && std::none_of(kPrefixes.begin(), kPrefixes.end(), begins)) return std::nullopt;
  std::string_view fields = message.substr(end);
  const std::optional<std::int64_t> sequence = take_number(fields, capture::kSequenceField);
  const Role role = role_of(name, sequence.has_value());
  Marker marker = make_marker(Framework::pytorch, role.kind, name, role.type);
  marker.sequence = sequence;
  marker.op_id = take_number(fields, capture::kOpIdField);
  if (take(fields, capture::kSizesField)) marker.shapes = shown(sizes_of(fields), kMaxMarkerShapes);
  return marker;
}

// What python/dlkprof pushes, in the default domain, and what other languages may in one of ours without the prefix:
// "dlkprof:module: layer1.0", "dlkprof:function: loss", "dlkprof:phase: forward", "dlkprof:step", "dlkprof:dataloader". Under
// --stacks modules say where they are called, "dlkprof:module: mlp @ net.py:12 in forward". Facts are marks for the profiler.
std::optional<Marker> parse_dlkprof(std::string_view message) {
  const auto scope = [](std::string_view name, std::string_view type) {
    return make_marker(Framework::dlkprof, MarkerKind::scope, name, type);
  };
  (void)take(message, kOwnPrefix);
  const bool phase = take(message, "phase: ");
  if (message == "step" || message == "dataloader") return scope(message, message);
  if (phase) return make_marker(Framework::dlkprof, MarkerKind::machinery, message, message);
  if (take(message, "function: ")) return scope(message, "function");
  if (take(message, "fact: ")) return make_marker(Framework::dlkprof, MarkerKind::machinery, "fact");
  if (!take(message, "module: ")) return std::nullopt;
  const std::size_t site = message.find(kCallSite);
  std::string path(message.substr(0, site));
  std::replace(path.begin(), path.end(), '.', '/');
  Marker module = scope(path, "module");
  if (site != std::string_view::npos) module.called_at = shown(message.substr(site + kCallSite.size()));
  return module;
}

}  // namespace dlkprof::model::marker
