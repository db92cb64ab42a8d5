// A run made for diagnosis: what TimelineBuilder makes, folded and aggregated, with an H200 and functions that are described.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "advise/subject.h"
#include "support/sample_capture.h"
#include "support/timeline_builder.h"

namespace dlkprof::test {

inline constexpr const char* kSmThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kMemoryThroughput = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kIterationEnd = "Optimizer.zero_grad#SGD.zero_grad";

class DiagnosedRun {
 public:
  explicit DiagnosedRun(const TimelineBuilder& builder) : timeline_(builder.build()) {
    for (model::Device& device : timeline_.devices) device.record = h200();
  }

  // Of all launches of a kernel; its function gets so many registers and so much static shared memory.
  DiagnosedRun& launched(const std::string& kernel, const capture::Dim3& grid, const capture::Dim3& block,
                         std::uint32_t registers = 32, std::uint32_t shared_bytes = 0) {
    const auto id = static_cast<std::uint32_t>(timeline_.functions.size() + 1);
    for (const model::Activity& activity : timeline_.activities) {
      if (activity.config == model::kNone || timeline_.kernels[activity.kernel].name != kernel) continue;
      timeline_.configs[activity.config].key = key(id, grid, block);
    }
    model::LoadedFunction loaded{0, function(id, "", registers)};
    loaded.record.static_shared_bytes = shared_bytes;
    timeline_.functions.push_back(std::move(loaded));
    return *this;
  }
  DiagnosedRun& fact(const std::string& name, const std::string& value) {
    timeline_.facts.push_back({"pytorch", name, value});
    return *this;
  }

  // To be called when all has been said; what it refers to lives as long as this.
  advise::Subject subject(const model::IterationRange& range = {}) {
    fold_ = model::fold(timeline_);
    aggregate_ = model::aggregate(timeline_, fold_, range);
    return {timeline_, fold_, aggregate_};
  }
  // For what a builder cannot say.
  model::Timeline& timeline() { return timeline_; }
  model::Fold& fold() { return fold_; }
  model::Aggregate& aggregate() { return aggregate_; }

 private:
  model::Timeline timeline_;
  model::Fold fold_;
  model::Aggregate aggregate_;
};

}  // namespace dlkprof::test
