// How large an op's inputs are, from the shapes and types that its marker tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/fold/fold.h"

namespace dlkprof::advise {

using Shape = std::vector<std::uint64_t>;

// "[[4, 3, 32, 32], []]" as {{4, 3, 32, 32}, {}}; what is nested deeper, as a list of tensors is, counts as tensors one after
// another. Empty where it is no such list, or was cut.
[[nodiscard]] std::vector<Shape> parse_shapes(std::string_view text);

// Of an element of "float16", "torch.float32", "c10::Half", "i64"...; none for one that is not known.
[[nodiscard]] std::optional<std::uint64_t> element_bytes(std::string_view type);

// Of all inputs of an op's first instance together. None where shapes or types are not known, or do not fit each other. One
// type stands for all tensors.
[[nodiscard]] std::optional<double> input_bytes(const model::Op& op);

}  // namespace dlkprof::advise
