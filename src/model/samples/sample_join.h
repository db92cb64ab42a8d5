// Gives samples of a GPU's counters to launch configurations by their time, and sums them up.
//
// A sample is a launch's where that launch alone had some of its interval: then all that was counted is the launch's, also where
// it began or ended within the interval and the GPU was idle for the rest. Samples in which one launch ended and another began
// are parted between them where many such tell how (model/samples/sample_edges.h); they do not count as samples of either. Those
// with some of more kernels, or of a copy, are nobody's and are left out. So short launches with close neighbours get samples in
// few of their repetitions.
//
// Samples are summed as raw counters are: the mean of a ratio is weighted by its denominator (cupti::sampling_weight), that of
// everything else by time. Counts, which grow with the length of a launch, become those of a launch of mean length.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/samples.h"
#include "model/fold/kernel_spans.h"
#include "model/samples/sample_columns.h"
#include "model/samples/sample_edges.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// A weighted mean and how sure it is. Launches, not samples, are what is drawn independently: samples of one launch resemble one
// another. So the interval is that of a ratio estimate over clusters (Cochran, Sampling Techniques, 3rd ed., section 6.3).
class ClusteredMean {
 public:
  // Samples of one launch come one after another.
  void add(std::uint32_t launch, double value, double weight);
  // `scale`: what the mean, its deviation and interval are multiplied by. `edges`: what shared samples add to the mean; where
  // they differ from the others the interval grows. None where nothing was added with a weight.
  [[nodiscard]] std::optional<SampledFigure> finish(double scale, SampleEdges::Share edges = {});

 private:
  void close_launch();

  std::uint64_t samples_ = 0, launches_ = 0;
  std::uint32_t launch_ = kNone;
  double sum_ = 0, weight_ = 0;                              // of the launch that is open
  double all_ = 0, all_weight_ = 0, squares_ = 0;            // of those before; squares of values, weighted
  double sum_sum_ = 0, sum_weight_ = 0, weight_weight_ = 0;  // products of the sums of each launch
};

class SampleJoin {
 public:
  // `works`: of one capture; they outlive this. `device`: index into Timeline::devices.
  SampleJoin(std::span<const Activity> activities, std::uint32_t device);

  // In the order of time. `metrics` are those of the batch's values.
  void add(const std::vector<std::string>& metrics, const capture::SampleBatch& batch);

  // By configuration and metric.
  [[nodiscard]] std::unordered_map<std::uint32_t, std::map<std::string, SampledFigure>> finish();
  // Samples given to a launch, and those in which several works ran, or a copy.
  [[nodiscard]] std::uint64_t given() const { return given_; }
  [[nodiscard]] std::uint64_t shared() const { return shared_; }

 private:
  // By metric, in the order of the batch's.
  [[nodiscard]] std::vector<ClusteredMean*> means_of(std::uint32_t config, const std::vector<SampleColumn>& columns);
  [[nodiscard]] double mean_launch_ns(std::uint32_t config) const;
  void add_shared(const std::vector<SampleColumn>& columns, std::size_t sample, std::int64_t start_ns, std::int64_t end_ns);

  std::span<const Activity> works_;
  std::vector<KernelSpan> spans_;
  Occupation occupation_;
  std::unordered_map<std::uint32_t, std::pair<double, std::uint64_t>> launch_ns_;  // by configuration: sum and number
  std::unordered_map<std::uint32_t, std::map<std::string, ClusteredMean>> means_;  // by configuration
  SampleEdges edges_;
  std::uint64_t given_ = 0, shared_ = 0;
};

}  // namespace dlkprof::model
