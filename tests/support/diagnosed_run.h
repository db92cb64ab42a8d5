// A run made for diagnosis: what TimelineBuilder makes, folded and aggregated, with an H200 and functions that are described.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "model/profile.h"
#include "support/sample_capture.h"
#include "support/timeline_builder.h"

namespace dlkprof::test {

inline constexpr const char* kSmThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kMemoryThroughput = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kIterationEnd = "Optimizer.zero_grad#SGD.zero_grad";

class DiagnosedRun {
 public:
  explicit DiagnosedRun(const TimelineBuilder& builder) {
    profile_.timeline = builder.build();
    for (model::Device& device : profile_.timeline.devices) device.record = h200();
  }

  // Of all launches of a kernel; its function gets so many registers and so much static shared memory.
  DiagnosedRun& launched(const std::string& kernel, const capture::Dim3& grid, const capture::Dim3& block,
                         std::uint32_t registers = 32, std::uint32_t shared_bytes = 0) {
    const auto id = static_cast<std::uint32_t>(profile_.timeline.functions.size() + 1);
    for (const model::Activity& activity : profile_.timeline.activities) {
      if (activity.config == model::kNone || profile_.timeline.kernels[activity.kernel].name != kernel) continue;
      profile_.timeline.configs[activity.config].key = key(id, grid, block);
    }
    model::LoadedFunction loaded{0, function(id, "", registers)};
    loaded.record.static_shared_bytes = shared_bytes;
    profile_.timeline.functions.push_back(std::move(loaded));
    return *this;
  }
  DiagnosedRun& fact(const std::string& name, const std::string& value) {
    profile_.timeline.facts.push_back({"pytorch", name, value});
    return *this;
  }

  // To be called when all has been said. Of all iterations unless a range is given; {} stands for the steady range.
  const model::Profile& profile(const model::IterationRange& range = {.start = 0, .stop = {}}) {
    profile_.fold = model::fold(profile_.timeline);
    profile_.aggregate = model::aggregate(profile_.timeline, profile_.fold, range);
    return profile_;
  }
  // For what a builder cannot say.
  model::Timeline& timeline() { return profile_.timeline; }
  model::Fold& fold() { return profile_.fold; }
  model::Aggregate& aggregate() { return profile_.aggregate; }

 private:
  model::Profile profile_;
};

}  // namespace dlkprof::test
