// Messages that are dictionaries: of PyProf and nvidia_dlprof_pytorch_nvtx ({'mod': 'torch', 'op': 'mm', 'args': [...]}), of
// the layer-wise tracing of vLLM and SGLang ({'Module': 'model.layers.0', 'Inputs': [...]}), both as Python's repr(), and the
// detailed ones of NVIDIA's TensorFlow, which are JSON.
#include <algorithm>

#include "model/markers/literal.h"
#include "model/markers/marker_parsers.h"

namespace dlkprof::model::marker {
namespace {

struct Inputs {
  std::string shapes, data_types;
};

void append(std::string& list, std::string_view item) {
  if (item.empty() || list.size() > kMaxMarkerShapes) return;
  if (!list.empty()) list += ", ";
  list += item;
}

std::string_view data_type_of(const Literal& tensor) {
  std::string_view type = tensor.text_of("dtype");
  if (type.empty()) type = tensor.text_of("type");
  if (type == "tensor" || type == "ndarray") return {};  // PyProf's kinds of arguments
  return type.starts_with("torch.") ? type.substr(6) : type;
}

// Every dictionary with a shape is a tensor; some are in lists, as those of cat() are.
void collect(Inputs& inputs, const Literal& literal) {
  if (const Literal* shape = literal.find("shape")) {
    append(inputs.shapes, list_text(*shape));
    append(inputs.data_types, data_type_of(literal));
    return;
  }
  for (const Literal& item : literal.items) collect(inputs, item);
}

void set_inputs(Marker& marker, const Inputs& inputs) {
  if (!inputs.shapes.empty()) marker.shapes = shown("[" + inputs.shapes + "]", kMaxMarkerShapes);
  if (!inputs.data_types.empty()) marker.data_types = shown("[" + inputs.data_types + "]", kMaxMarkerShapes);
}

void set_inputs_of(Marker& marker, const Literal& dictionary) {
  Inputs inputs;
  if (const Literal* args = dictionary.find("args")) collect(inputs, *args);
  // TensorFlow gives the one type of all inputs as an attribute.
  const Literal* attributes = dictionary.find("attrs");
  if (inputs.data_types.empty() && attributes != nullptr) append(inputs.data_types, attributes->text_of("T"));
  set_inputs(marker, inputs);
}

bool is_dictionary(std::string_view message) {
  const std::size_t at = message.find_first_not_of(" \t\r\n", 1);
  return message.starts_with('{') && at != std::string_view::npos && (message[at] == '\'' || message[at] == '"');
}

// "Conv2D: net/conv1".
std::optional<Marker> parse_node(std::string_view message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string_view::npos || colon == 0 || colon + 2 == message.size()) return std::nullopt;
  const std::string_view type = message.substr(0, colon);
  const auto is_letter = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  if (!std::all_of(type.begin(), type.end(), is_letter)) return std::nullopt;
  return make_marker(Framework::tensorflow, MarkerKind::op, message.substr(colon + 2), type);
}

}  // namespace

std::optional<Marker> parse_dictionary(std::string_view message) {
  if (!is_dictionary(message)) return std::nullopt;
  const Literal dictionary = parse_literal(message);
  if (const std::string_view op = dictionary.text_of("op"); !op.empty() && dictionary.find("mod") != nullptr) {
    Marker marker = make_marker(Framework::pyprof, MarkerKind::op, op);
    set_inputs_of(marker, dictionary);
    return marker;
  }
  if (dictionary.find("traceMarker") != nullptr) {  // the lines of Python that called
    return make_marker(Framework::pyprof, MarkerKind::machinery, "traceMarker");
  }
  if (const std::string_view module = dictionary.text_of("Module"); !module.empty()) {
    Marker marker = make_marker(Framework::vllm, MarkerKind::scope, module, "module");
    if (const Literal* inputs = dictionary.find("Inputs")) marker.shapes = shown(list_text(*inputs), kMaxMarkerShapes);
    return marker;
  }
  return std::nullopt;
}

std::optional<Marker> parse_tensorflow(std::string_view message) {
  if (!is_dictionary(message)) return parse_node(message);
  const Literal dictionary = parse_literal(message);
  const std::string_view op = dictionary.text_of("op");
  const std::string_view name = dictionary.text_of("name");
  if (op.empty() && name.empty()) return std::nullopt;
  Marker marker = make_marker(Framework::tensorflow, MarkerKind::op, name.empty() ? op : name, op);
  set_inputs_of(marker, dictionary);
  return marker;
}

}  // namespace dlkprof::model::marker
