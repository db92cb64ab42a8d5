// Over what a selector counts. Whether two launches share a counter is decided here and nowhere else.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "dlkprof/capture_format.h"
#include "select/selector.h"

namespace dlkprof::select {

// Launches of equal keys share a counter. What a counter does not tell apart stays at its default.
struct CounterKey {
  capture::LaunchKey launch;  // .function holds LaunchIdentity::name_id
  friend bool operator==(const CounterKey&, const CounterKey&) = default;
};

struct CounterKeyHash {
  [[nodiscard]] std::size_t operator()(const CounterKey& key) const noexcept;
};

enum class FilterMode : std::uint8_t { global, per_gpu, per_launch_config };
// global | per-gpu | per-launch-config; throws UsageError.
[[nodiscard]] FilterMode parse_filter_mode(const std::string& word);

// The counter behind --launch-skip and --launch-count. What ncu calls a launch configuration goes by the kernel's name as
// --kernel-name-base has it: template instances of one name and size share it. (So seen with Nsight Compute 2025.3;
// tests/gpu compares.) The counter behind invocation-nr goes by that name alone, whatever the size, context or stream.
[[nodiscard]] CounterKey skip_and_count_key(FilterMode mode, const LaunchIdentity& launch);

}  // namespace dlkprof::select
