// XLA's annotations, xla/tsl/profiler/lib: "Thunk:#name=jit(step)/dot_general,hlo_op=fusion.5,unique_hlo_op_id=8#". Values are
// not escaped: a name has commas of its own, so that only the keys that XLA is known to write end a value.
#include <algorithm>
#include <array>
#include <charconv>

#include "model/markers/marker_parsers.h"

namespace dlkprof::model::marker {
namespace {

constexpr std::array<std::string_view, 8> kKeys{
    "prefix=", "name=", "hlo_op=", "unique_hlo_op_id=", "module=", "hlo_module=", "hlo_module_name=", "program_id="};

bool begins_with_key(std::string_view text) {
  for (const std::string_view key : kKeys) {
    if (text.starts_with(key)) return true;
  }
  return false;
}

// Calls visit("key=", value) for each of "key=value,key=value".
template <typename Visitor>
void for_each_attribute(std::string_view text, const Visitor& visit) {
  while (!text.empty()) {
    std::size_t end = text.find(',');
    while (end != std::string_view::npos && !begins_with_key(text.substr(end + 1))) end = text.find(',', end + 1);
    const std::string_view attribute = text.substr(0, end);
    const std::size_t value = std::min(attribute.find('='), attribute.size() - 1) + 1;
    visit(attribute.substr(0, value), attribute.substr(value));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

struct Annotation {
  std::string_view what;  // XlaModule, Thunk, XlaPass, ...
  std::string_view name, hlo_op, hlo_module;
  std::optional<std::int64_t> program;
};

Annotation parse_annotation(std::string_view message) {
  const std::size_t start = message.find(":#");
  Annotation annotation{.what = message.substr(0, start)};
  if (start == std::string_view::npos) return annotation;
  std::string_view attributes = message.substr(start + 2);
  if (attributes.ends_with('#')) attributes.remove_suffix(1);
  for_each_attribute(attributes, [&](std::string_view key, std::string_view value) {
    if (key == "name=") annotation.name = value;
    if (key == "hlo_op=") annotation.hlo_op = value;
    if (key == "hlo_module=") annotation.hlo_module = value;
    std::int64_t number = 0;
    if (key != "program_id=") return;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc()) annotation.program = number;
  });
  return annotation;
}

// HLO instructions are numbered to be unique ("fusion.12"), and those cloned say so ("fusion.12.clone").
std::string_view hlo_type(std::string_view op) {
  for (;;) {
    std::string_view shorter = without_number(op, '.');
    for (const std::string_view suffix : {".clone", ".remat"}) {
      if (shorter.size() > suffix.size() && shorter.ends_with(suffix)) shorter.remove_suffix(suffix.size());
    }
    if (shorter.size() == op.size()) return op;
    op = shorter;
  }
}

// The instruction is part of the name: those fused from the same line of a program have the same `name`.
Marker thunk(const Annotation& annotation) {
  std::string name(annotation.name.substr(0, kMaxMarkerMessage));
  if (!name.empty() && !annotation.hlo_op.empty()) name += '/';
  name += annotation.hlo_op;
  return make_marker(Framework::xla, MarkerKind::op, name, hlo_type(annotation.hlo_op));
}

}  // namespace

std::optional<Marker> parse_xla(std::string_view message) {
  const Annotation annotation = parse_annotation(message);
  if (annotation.what == "XlaModule" && !annotation.hlo_module.empty()) {
    Marker marker = make_marker(Framework::xla, MarkerKind::scope, annotation.hlo_module, annotation.what);
    marker.op_id = annotation.program;
    return marker;
  }
  if (annotation.what == "Thunk" && !(annotation.hlo_op.empty() && annotation.name.empty())) return thunk(annotation);
  const bool compiles = annotation.what.starts_with("Xla") || annotation.what.starts_with("Compile");
  return make_marker(Framework::xla, compiles ? MarkerKind::machinery : MarkerKind::op, annotation.what);
}

}  // namespace dlkprof::model::marker
