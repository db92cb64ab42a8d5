// Launch configurations as the iterations aggregated used them, with what was measured of each.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/quantities.h"
#include "model/profile.h"

namespace dlkprof::advise {

struct ConfigUse {
  std::uint32_t config = 0;             // index into Timeline::configs
  std::uint32_t kernel = model::kNone;  // index into Timeline::kernels; kNone where no launch of it is on the timeline
  std::uint32_t device = model::kNone;  // index into Timeline::devices; likewise
  std::uint32_t op = model::kNone;      // index into Fold::ops: the one with most of its GPU time
  std::uint32_t ops = 0;                // that launch it
  std::uint64_t launches = 0, timed = 0;
  std::int64_t gpu_ns = 0;        // of those that were timed
  std::uint64_t samples = 0;      // launches measured
  std::uint8_t replay_modes = 0;  // how, as model::Counters has them
  Values values;                  // metrics of one launch: means over those measured
};

// Those launched in the iterations aggregated, by GPU time, falling.
[[nodiscard]] std::vector<ConfigUse> config_uses(const model::Profile& profile);

// Whether a work belongs to the iterations aggregated.
[[nodiscard]] inline bool is_aggregated(const model::Profile& profile, std::size_t activity) {
  return profile.aggregate.has(profile.fold, profile.fold.activity_iteration[activity]);
}

}  // namespace dlkprof::advise
