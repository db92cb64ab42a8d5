// How enumerations of the model are spelled in the database.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "model/aggregate/aggregate.h"
#include "model/aggregate/provenance.h"
#include "model/fold/fold.h"

namespace dlkprof::store {

// In the order of their values.
inline constexpr std::array kDirections{"", "fprop", "bprop"};
inline constexpr std::array kFrameworks{"",           "pytorch",  "dlkprof",   "pyprof",   "xla",
                                        "tensorflow", "tensorrt", "deepspeed", "megatron", "vllm"};
inline constexpr std::array kKeyNodeSources{"none", "asked", "framework", "repetition"};
inline constexpr std::array kTensorCoreSources{"unknown", "name", "counter"};
inline constexpr std::array kIncomplete{"",       "not matched", "near missed", "cooperative",  "collective", "captured",
                                        "failed", "unsupported", "not asked",   "not measured", "too few",    "beyond count"};
static_assert(kFrameworks.size() == static_cast<std::size_t>(model::Framework::vllm) + 1);
static_assert(kIncomplete.size() == static_cast<std::size_t>(model::Incomplete::beyond_count) + 1);

inline const char* name_of(model::Incomplete incomplete) { return kIncomplete.at(static_cast<std::size_t>(incomplete)); }

// The value of a name; none where there is no such name.
template <typename Enum, std::size_t N>
[[nodiscard]] std::optional<Enum> value_of(const std::array<const char*, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace dlkprof::store
