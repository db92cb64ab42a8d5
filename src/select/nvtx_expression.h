// What --nvtx-include and --nvtx-exclude say, in ncu's grammar (Nsight Compute CLI manual, "NVTX Filtering"):
//
//   [domain@] name [, name...]                    start/end ranges that are all open, of any thread
//   [domain@] [ '[' ] item / [item / ...] [ ']' ] push/pop ranges of the launching thread, outermost first, without a gap;
//                                                 an item is a name, `+` (one range) or `*` (any number of them)
//
// `[` says that the first item is the outermost range of the domain, `]` that the last one is the innermost. A name is
// `regex:<pattern>`, which matches some part of it, or is literal. `\` before one of @ , [ ] / * + takes its meaning away.
// Without a domain it is NVTX's default one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlkprof::select {

struct NvtxName {
  std::string text;
  bool is_pattern = false;
  friend bool operator==(const NvtxName&, const NvtxName&) = default;
};

struct NvtxItem {
  enum class Kind : std::uint8_t { name, one, any };
  Kind kind = Kind::name;
  NvtxName name;  // of Kind::name
  friend bool operator==(const NvtxItem&, const NvtxItem&) = default;
};

struct NvtxExpression {
  std::optional<NvtxName> domain;  // none: the default one
  bool push_pop = false;           // else start/end, and all items are names
  bool from_bottom = false, to_top = false;
  std::vector<NvtxItem> items;
  friend bool operator==(const NvtxExpression&, const NvtxExpression&) = default;
};

// `text` with a backslash before each character that has a meaning.
[[nodiscard]] std::string escape_nvtx(std::string_view text);

// Throws UsageError that shows `value` and a caret under the place.
[[nodiscard]] NvtxExpression parse_nvtx(std::string_view option, std::string_view value);

}  // namespace dlkprof::select
