// The period of PC sampling: a warp of each multiprocessor is looked at once in 2^n cycles.
#pragma once

#include <cstdint>

namespace dlkprof::cupti {

// What CUPTI accepts as a period: 2^n cycles (cupti_pcsampling.h).
inline constexpr std::uint32_t kLeastPcPeriod = 5, kMostPcPeriod = 31;
// On an H200 it costs a training loop less than 1 %, where 2^14 costs 9 % and overflows, and gives the same shares.
inline constexpr std::uint32_t kUsualPcPeriod = 17;

}  // namespace dlkprof::cupti
