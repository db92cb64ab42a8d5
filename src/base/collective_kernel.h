// Kernels that work together with other GPUs' and wait for them, known by their names.
#pragma once

#include <string_view>

namespace dlkprof {

// `name`: mangled.
[[nodiscard]] bool is_collective_kernel(std::string_view name) noexcept;

}  // namespace dlkprof
