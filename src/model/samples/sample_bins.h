// What a GPU did over time, whoever did it: its samples, averaged over stretches of time. For curves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/samples.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class SampleBins {
 public:
  // Stretches of `width_ns`, counted from `origin_ns`.
  SampleBins(std::int64_t origin_ns, std::int64_t width_ns) : origin_ns_(origin_ns), width_ns_(width_ns) {}

  // A sample belongs to the stretch that its middle lies in. Figures that grow with time are left out: their rates are there.
  void add(const std::vector<std::string>& metrics, const capture::SampleBatch& batch);

  // Adds them to the timeline's.
  void move_to(Timeline& timeline, std::uint32_t device) &&;

 private:
  struct Sum {
    std::uint64_t samples = 0;
    double sum = 0, weight = 0;
  };
  std::int64_t origin_ns_, width_ns_;
  std::map<std::string, std::map<std::int64_t, Sum>> sums_;  // by metric and number of the stretch
};

}  // namespace dlkprof::model
