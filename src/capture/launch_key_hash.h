// For maps by launch configuration.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

struct LaunchKeyHash {
  std::size_t operator()(const LaunchKey& key) const noexcept {
    std::size_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
    const auto mix = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
    mix(key.function);
    mix(key.device);
    for (const Dim3* dim : {&key.grid, &key.block, &key.cluster}) {
      mix((std::uint64_t{dim->x} << 32U) | dim->y);
      mix(dim->z);
    }
    mix(key.dynamic_shared_bytes);
    return hash;
  }
};

}  // namespace dlkprof::capture
