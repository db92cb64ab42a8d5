#include "model/markers/marker.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/markers/marker_parsers.h"

namespace dlkprof::model {
namespace marker {
namespace {

// Without a branch in the loop, so that it is vectorized: nearly all texts are, and markers come by the million.
bool is_plain_ascii(std::string_view text) {
  bool other = false;
  for (const char c : text) other |= static_cast<unsigned char>(c - ' ') > '~' - ' ';
  return !other;
}

}  // namespace

std::string shown(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes && is_plain_ascii(text)) return std::string(text);
  std::string out = printable(text, max_bytes);
  if (out.size() <= max_bytes) return out;
  constexpr std::string_view kDots = "...";
  std::size_t end = max_bytes - kDots.size();
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80) --end;  // not within a character
  out.resize(end);
  return out.append(kDots);
}

Marker make_marker(Framework framework, MarkerKind kind, std::string_view name, std::string_view type) {
  name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  Marker marker;
  marker.framework = framework;
  marker.kind = kind;
  marker.name = shown(name.empty() ? "unnamed" : name);
  marker.type = type.empty() ? marker.name : shown(type);
  return marker;
}

std::string_view without_number(std::string_view text, char separator) {
  const std::size_t last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last == 0 || last + 1 == text.size() || text[last] != separator) return text;
  return text.substr(0, last);
}

}  // namespace marker

namespace {

using Parser = std::optional<Marker> (*)(std::string_view);

// Who speaks in a domain, and of what its strings are that we know nothing of.
struct Domain {
  std::string_view name;
  Framework framework;
  Parser parser;
};
constexpr std::array<Domain, 6> kDomains{{
    {"dlkprof", Framework::dlkprof, marker::parse_dlkprof},
    {"TSL", Framework::xla, marker::parse_xla},
    {"tensorflow-core", Framework::tensorflow, marker::parse_tensorflow},
    {"TensorRT", Framework::tensorrt, marker::parse_tensorrt},
    {"myelin-exec", Framework::tensorrt, marker::parse_tensorrt},
    {"DeepSpeed", Framework::deepspeed, marker::parse_deepspeed},
}};

// Those who speak in the default domain, where everybody does.
std::optional<Marker> parse_default(std::string_view message) {
  if (message.starts_with(marker::kOwnPrefix)) return marker::parse_dlkprof(message);
  for (const Parser parser : {marker::parse_dictionary, marker::parse_pytorch, marker::parse_megatron}) {
    if (std::optional<Marker> marker = parser(message)) return marker;
  }
  return message.starts_with("DeepSpeed") ? marker::parse_deepspeed(message) : std::nullopt;
}

// Ranks of key nodes. What ends a step of training in one framework can be one of many modules in another.
enum Rank : std::uint8_t {
  own_step,
  zero_grad,
  optimizer_step,
  engine_step,
  global_step,
  part_of_global_step,
  inference,
  step_by_name,
  xla_step,
  xla_module,
  xla_helper
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<int> xla_rank(const Marker& marker) {
  if (marker.type != "XlaModule" || !marker.op_id) return std::nullopt;  // without a program id: the autotuner's trials
  for (const std::string_view word : {"step", "train", "update"}) {
    if (contains(marker.name, word)) return xla_step;
  }
  const bool is_pmaps = marker.name == "jit__fun";  // jax.pmap calls each function so (jax/_src/pmap.py)
  return marker.name.starts_with("jit__") && !is_pmaps ? xla_helper : xla_module;  // JAX's own, such as jit__normal
}

std::optional<int> tensorflow_rank(std::string_view node) {
  constexpr std::string_view kStep = "global_step";
  if (!contains(node, kStep)) return std::nullopt;
  return node == kStep || node.ends_with("/global_step") ? global_step : part_of_global_step;
}

std::optional<int> pytorch_rank(std::string_view type) {
  if (type == "Optimizer.zero_grad") return zero_grad;
  if (type == "Optimizer.step") return optimizer_step;
  return std::nullopt;
}

std::optional<int> rank_if(bool is_key_node, Rank rank) { return is_key_node ? std::optional<int>(rank) : std::nullopt; }

}  // namespace

Marker parse_marker(std::string_view domain, std::string_view message) {
  message = message.substr(0, kMaxMarkerMessage);
  const auto* const known = std::find_if(kDomains.begin(), kDomains.end(), [&](const Domain& d) { return d.name == domain; });
  const bool is_known = known != kDomains.end();
  std::optional<Marker> parsed = is_known         ? known->parser(message)
                                 : domain.empty() ? parse_default(message)
                                                  : marker::parse_dictionary(message);
  if (parsed) return *std::move(parsed);
  return marker::make_marker(is_known ? known->framework : Framework::none, MarkerKind::op, message);
}

std::optional<int> key_node_rank(const Marker& marker) {
  switch (marker.framework) {
    case Framework::dlkprof:
      return rank_if(marker.type == "step", own_step);
    case Framework::pytorch:
      return pytorch_rank(marker.type);
    case Framework::deepspeed:
      return rank_if(marker.name.ends_with(".step"), engine_step);
    case Framework::tensorflow:
      return tensorflow_rank(marker.name);
    case Framework::tensorrt:
      return rank_if(marker.type == "ExecutionContext", inference);
    case Framework::xla:
      return xla_rank(marker);
    case Framework::none:
      return rank_if(is_one_of(marker.name, {"step", "iteration", "train_step", "training_step", "global_step"}), step_by_name);
    default:
      return std::nullopt;
  }
}

}  // namespace dlkprof::model
