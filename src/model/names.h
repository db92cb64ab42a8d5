// Enumerations in words: arrays of names in the order of their values, as the database, reports and messages spell them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"

namespace dlkprof::model {

inline constexpr std::array kDirections{"", "fprop", "bprop"};
inline constexpr std::array kFrameworks{"",           "pytorch",  "dlkprof",   "pyprof",   "xla",
                                        "tensorflow", "tensorrt", "deepspeed", "megatron", "vllm"};
inline constexpr std::array kKeyNodeSources{"none", "asked", "framework", "repetition"};
inline constexpr std::array kTensorCoreSources{"unknown", "name", "counter"};
inline constexpr std::array kRangeSources{"all", "found", "asked"};
static_assert(kFrameworks.size() == static_cast<std::size_t>(Framework::vllm) + 1);

template <typename Enum, std::size_t N>
[[nodiscard]] constexpr const char* name_in(const std::array<const char*, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

// The value of a name; none where there is no such name.
template <typename Enum, std::size_t N>
[[nodiscard]] std::optional<Enum> value_of(const std::array<const char*, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace dlkprof::model
