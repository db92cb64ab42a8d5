// Values as Python's repr() and JSON write them, which frameworks put into their NVTX messages. Read, never evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlkprof::model {

struct Literal {
  enum class Kind : std::uint8_t { nothing, word, text, list, dict };

  Kind kind = Kind::nothing;
  std::string text;               // of a text, without its quotes; of a word (12, None, torch.float16, -1e5) its letters
  std::vector<Literal> items;     // of a list, tuple or call; of torch.Size([4, 3]) those of the list; of a dict its values
  std::vector<std::string> keys;  // of a dict: as many as items

  // The value of the first such key of a dict; nullptr where there is none.
  [[nodiscard]] const Literal* find(std::string_view key) const;
  // The text of the value of that key; "" where it has none.
  [[nodiscard]] std::string_view text_of(std::string_view key) const;
};

inline constexpr std::size_t kMaxLiteralDepth = 32;
inline constexpr std::size_t kMaxLiteralItems = 16384;  // of all its lists and dicts

// The value at the start of `text`. Reads as far as the text is well formed and within the limits: what was cut keeps
// everything before the cut. Never throws on any input; takes time and memory linear in the text.
[[nodiscard]] Literal parse_literal(std::string_view text);

// Lists and words written out again: "[4, 3, [None, 2]]". Everything else is left out.
[[nodiscard]] std::string list_text(const Literal& literal);

}  // namespace dlkprof::model
