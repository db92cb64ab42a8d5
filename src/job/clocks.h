// Clocks of hosts beside one another, from the ends of collectives that end everywhere at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace dlkprof::job {

// The same event by two clocks.
struct ClockPair {
  std::int64_t reference_ns = 0, other_ns = 0;
};

// other = reference + offset + drift · (reference - middle), by least squares over pairs without outliers.
struct ClockFit {
  double offset_ns = 0;  // in the middle of the events
  double drift_ppm = 0;
  double middle_ns = 0;  // of the reference's clock
  double error_ns = 0;   // of the offset: four standard errors
  double drift_error_ppm = 0;
  // What to subtract from a time of the other clock.
  [[nodiscard]] double offset_at(double reference_ns) const { return offset_ns + drift_ppm * 1e-6 * (reference_ns - middle_ns); }
};

// None of fewer than three events.
[[nodiscard]] std::optional<ClockFit> fit_clock(std::span<const ClockPair> pairs);

}  // namespace dlkprof::job
