// Frameworks whose messages are names: TensorRT's layers, the methods of DeepSpeed, Megatron's functions.
#include <algorithm>

#include "model/markers/marker_parsers.h"

namespace dlkprof::model::marker {
namespace {

constexpr std::string_view kFused = " + ";  // between the layers that TensorRT made one of

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_path_letter(char c) { return is_alnum(c) || c == '_' || c == '.'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What a layer does, as far as its name says: "/layer1/conv1/Conv" and "Conv_12" are a Conv, "(Unnamed Layer* 3) [Convolution]"
// a Convolution, "{ForeignNode[a...b]}" a ForeignNode, "PWN(/Relu)" a PWN, and "12", without a name, a layer.
std::string_view layer_type(std::string_view name) {
  constexpr std::string_view kReformatting = "Reformatting CopyNode";
  if (name.starts_with(kReformatting)) return kReformatting;
  if (std::all_of(name.begin(), name.end(), is_digit)) return "layer";
  if (const std::size_t bracket = name.rfind(") ["); bracket != std::string_view::npos && name.ends_with(']')) {
    return name.substr(bracket + 3, name.size() - bracket - 4);
  }
  if (name.starts_with('{')) name.remove_prefix(1);
  if (const std::size_t open = name.find_first_of("(["); open != std::string_view::npos && open > 0) {
    const std::string_view wrapper = name.substr(0, open);
    if (std::all_of(wrapper.begin(), wrapper.end(), is_alnum)) return wrapper;
  }
  name.remove_prefix(name.rfind('/') + 1);
  return without_number(name, '_');
}

std::string fused_type(std::string_view name) {
  std::string type;
  while (type.size() <= kMaxMarkerName) {
    const std::size_t end = name.find(kFused);
    type += layer_type(name.substr(0, end));
    if (end == std::string_view::npos) break;
    type += kFused;
    name.remove_prefix(end + kFused.size());
  }
  return type;
}

}  // namespace

std::optional<Marker> parse_tensorrt(std::string_view message) {
  if (message.empty()) return std::nullopt;
  if (message.starts_with("ExecutionContext::")) {
    return make_marker(Framework::tensorrt, MarkerKind::scope, message, "ExecutionContext");
  }
  if (message.starts_with("myelinGraph")) return make_marker(Framework::tensorrt, MarkerKind::scope, message);
  return make_marker(Framework::tensorrt, MarkerKind::op, message, fused_type(message));
}

// The qualified name of a method: "DeepSpeedEngine.forward".
std::optional<Marker> parse_deepspeed(std::string_view message) {
  return make_marker(Framework::deepspeed, MarkerKind::scope, message);
}

// "<module>.<function>[.<suffix>]", which is Megatron's only where the module is one of its own.
std::optional<Marker> parse_megatron(std::string_view message) {
  if (!message.starts_with("megatron.") || !std::all_of(message.begin(), message.end(), is_path_letter)) return std::nullopt;
  return make_marker(Framework::megatron, MarkerKind::scope, message);
}

}  // namespace dlkprof::model::marker
