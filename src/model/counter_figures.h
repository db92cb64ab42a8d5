// What counters say of a row in the terms of the field, whatever metrics a chip or a set names it by.
#pragma once

#include <cstdint>
#include <optional>

#include "model/aggregate.h"

namespace dlkprof::model {

enum class CounterFigure : std::uint8_t {
  achieved_occupancy,     // % of the warps that an SM can hold, while it is active
  theoretical_occupancy,  // %
  tensor_pipe,            // % of the cycles in which an SM is active
  sm_throughput,          // % of peak
  memory_throughput,      // % of peak
  dram_bytes,             // bytes
  dram_rate,              // bytes a second
  dram_throughput,        // % of peak
};

// None where the metrics measured do not answer it.
[[nodiscard]] std::optional<double> counter_figure(const Counters& counters, CounterFigure figure);

}  // namespace dlkprof::model
