// How sure a mean of few values is.
#pragma once

#include <array>
#include <cstdint>

namespace dlkprof::model {

// The 0.975 quantile of Student's t with so many degrees of freedom: tabled for 1 to 10, then by the expansion about the normal
// distribution (Abramowitz and Stegun, 26.7.5), which is exact to 0.1 % there.
[[nodiscard]] inline double student_t(std::uint64_t freedom) {
  constexpr std::array kFew{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom <= kFew.size()) return kFew.at(freedom - 1);
  constexpr double kNormal = 1.959964, kCube = kNormal * kNormal * kNormal;
  const auto n = static_cast<double>(freedom);
  return kNormal + (kCube + kNormal) / (4 * n) + (5 * kCube * kNormal * kNormal + 16 * kCube + 3 * kNormal) / (96 * n * n);
}

}  // namespace dlkprof::model
