// What is behind parse_marker(): a parser for the strings of each framework. Each gives nothing where the message is none of
// its own. Internal to marker*.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/markers/marker.h"

namespace dlkprof::model::marker {

inline constexpr std::string_view kOwnPrefix = "dlkprof:";  // of our own messages in the default domain

[[nodiscard]] std::optional<Marker> parse_pytorch(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_dlkprof(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_xla(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_tensorflow(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_tensorrt(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_deepspeed(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_megatron(std::string_view message);
[[nodiscard]] std::optional<Marker> parse_dictionary(std::string_view message);  // PyProf, vLLM, SGLang

// As it is shown: printable, and at most so many bytes.
[[nodiscard]] std::string shown(std::string_view text, std::size_t max_bytes = kMaxMarkerName);

// A marker of that name and type (the name itself where it is empty), made fit to be shown. A name is never empty, and begins
// with no slash, which is the separator of paths.
[[nodiscard]] Marker make_marker(Framework framework, MarkerKind kind, std::string_view name, std::string_view type = {});

// `text` without a trailing number and the separator before it: "fusion.12" gives "fusion".
[[nodiscard]] std::string_view without_number(std::string_view text, char separator);

}  // namespace dlkprof::model::marker
