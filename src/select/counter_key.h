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
  capture::LaunchKey launch;
  std::uint32_t context_id = 0, stream_id = 0;
  friend bool operator==(const CounterKey&, const CounterKey&) = default;
};

struct CounterKeyHash {
  [[nodiscard]] std::size_t operator()(const CounterKey& key) const noexcept;
};

enum class FilterMode : std::uint8_t { global, per_gpu, per_launch_config };
// global | per-gpu | per-launch-config; throws UsageError.
[[nodiscard]] FilterMode parse_filter_mode(const std::string& word);

// The counter behind --launch-skip and --launch-count.
[[nodiscard]] CounterKey skip_and_count_key(FilterMode mode, const capture::LaunchKey& launch);

// The counter behind invocation-nr: a kernel's launches with the same grid, block and shared memory; with the
// same context or stream where the selector has such a field (Nsight Compute CLI manual, "kernel-id"). On which
// device they run makes no difference.
[[nodiscard]] CounterKey invocation_key(const LaunchIdentity& launch, bool by_context, bool by_stream);

}  // namespace dlkprof::select
