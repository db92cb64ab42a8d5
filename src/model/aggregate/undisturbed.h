// Iterations of the program by itself, after the profiler had let go of it: how long they take without us.
#pragma once

#include <cstdint>
#include <optional>

#include "model/fold/fold.h"

namespace dlkprof::model {

struct UndisturbedIterations {
  std::uint64_t n = 0;
  double median_ns = 0, mean_ns = 0;
  double deviation_ns = 0;  // sample standard deviation
  friend bool operator==(const UndisturbedIterations&, const UndisturbedIterations&) = default;
};

// By the steps of a marker that came once in each of the iterations `first` to `last` while the program was profiled; those of
// the loop in its steady state (steady_range.h). None where no marker did, or too few steps came.
[[nodiscard]] std::optional<UndisturbedIterations> undisturbed_iterations(const Timeline& timeline, const Fold& fold,
                                                                          std::uint32_t first, std::uint32_t last);

}  // namespace dlkprof::model
