// How many tokens of each sequence a model was called with, by the shapes of its embedding: what tells the prefill of a
// generating loop, which reads a prompt, from its decode steps, which read one token each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/fold/key_node.h"
#include "model/markers/range_markers.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Of a stretch of the program. `mixed`: both came within it, so that it is neither.
enum class TokenUse : std::uint8_t { unknown, one, many, mixed };

[[nodiscard]] constexpr TokenUse operator+(TokenUse a, TokenUse b) {
  if (a == TokenUse::unknown || a == b) return b;
  return b == TokenUse::unknown ? a : TokenUse::mixed;
}

// By the input shapes of a range of PyTorch's aten::embedding: "[[32000, 1024], [4, 64], []]" has 4 sequences of 64 tokens.
// Unknown where the indices have fewer than two dimensions: of a flat list nobody says how many sequences it holds.
[[nodiscard]] TokenUse token_use_of(std::string_view shapes);

// Of each range of the timeline what its own message says; empty where no range says anything.
[[nodiscard]] std::vector<TokenUse> find_token_uses(const Timeline& timeline, const RangeMarkers& markers,
                                                    const TextTable& texts);

// Whether calls in this order are those of a generating loop: one with many tokens is directly followed by one with one, and at
// least two have one.
[[nodiscard]] bool shows_generation(const std::vector<TokenUse>& calls);

// The outermost module that is called as a generating loop calls it, that with most GPU time inside where there are several: its
// forward is a step. None where no module's shapes show one.
[[nodiscard]] std::optional<KeyNode> find_generating_module(const Timeline& timeline, const RangeMarkers& markers,
                                                            const TextTable& texts);

}  // namespace dlkprof::model
