// The samples of a capture, given to the kernels of the timeline and to stretches of time.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/samples.h"
#include "model/fold/time_arithmetic.h"
#include "model/samples/sample_bins.h"
#include "model/samples/sample_join.h"
#include "model/timeline/timeline_loader.h"

namespace dlkprof::model {
namespace {

// A curve over the whole run of so many points has 10 an iteration of 1.5 ms in a run of 10 s, and stays drawable.
constexpr std::int64_t kMostBins = 65'536;
// Fewer samples than these in a stretch are noise.
constexpr std::int64_t kSamplesABin = 4;
// As for all events: sums of times never overflow.
constexpr std::int64_t kLatestSampleNs = std::int64_t{1} << 60U;

struct DeviceSamples {
  std::vector<const capture::SamplesRecord*> records;
  std::int64_t interval_ns = 1;  // the longest
};

// Takes out samples at impossible times, and says how many they were.
std::uint64_t drop_impossible(capture::SampleBatch& batch) {
  std::size_t kept = 0;
  const std::size_t all = batch.start_ns.size();
  for (std::size_t i = 0; i < all; ++i) {
    const bool possible = batch.start_ns[i] >= 0 && batch.start_ns[i] <= kLatestSampleNs && batch.length_ns[i] > 0 &&
                          batch.length_ns[i] <= kLatestSampleNs;
    if (!possible) continue;
    batch.start_ns[kept] = batch.start_ns[i];
    batch.length_ns[kept] = batch.length_ns[i];
    for (auto& values : batch.values) values[kept] = values[i];
    ++kept;
  }
  batch.start_ns.resize(kept);
  batch.length_ns.resize(kept);
  for (auto& values : batch.values) values.resize(kept);
  return all - kept;
}

std::pair<std::int64_t, std::int64_t> extent(std::span<const Activity> activities, std::uint32_t device) {
  std::int64_t first = kMostNs, last = 0;
  for (const Activity& activity : activities) {
    if (activity.device != device || !is_timed(activity)) continue;
    first = std::min(first, activity.start_ns);
    last = std::max(last, activity.end_ns);
  }
  return {std::min(first, last), last};
}

}  // namespace

void TimelineLoader::join_samples(const std::map<std::uint32_t, std::uint32_t>& devices) {
  std::map<std::uint32_t, DeviceSamples> by_device;
  for (const capture::SamplesRecord& record : parts_.samples) {
    const auto set = parts_.metric_sets.find(record.metric_set);
    const auto device = set == parts_.metric_sets.end() ? devices.end() : devices.find(set->second.device);
    if (device == devices.end()) {
      notices_.count("Batches of samples of an unknown metric set or GPU left out");
      continue;
    }
    DeviceSamples& samples = by_device[device->second];
    samples.records.push_back(&record);
    samples.interval_ns = std::max<std::int64_t>(samples.interval_ns, record.interval_ns);
    notices_.count("Times that a GPU's buffer was full, so that samples are missing",
                   std::min<std::uint64_t>(record.lost, 1U << 20U));
  }
  for (const auto& [device, samples] : by_device) join_device_samples(device, samples.records, samples.interval_ns);
}

void TimelineLoader::join_device_samples(std::uint32_t device, const std::vector<const capture::SamplesRecord*>& records,
                                         std::int64_t interval_ns) {
  const std::span<const Activity> activities = std::span(timeline_.activities).subspan(parts_.activities);
  const auto [first, last] = extent(activities, device);
  SampleJoin join(activities, device);
  SampleBins bins(first, std::max((last - first) / kMostBins + 1, kSamplesABin * interval_ns));
  for (const capture::SamplesRecord* record : records) {
    const std::vector<std::string>& metrics = parts_.metric_sets.at(record->metric_set).metrics;
    try {
      capture::SampleBatch batch = capture::unpack_samples(*record, metrics.size());
      notices_.count("Samples at impossible times left out", drop_impossible(batch));
      join.add(metrics, batch);
      bins.add(metrics, batch);
    } catch (const Error&) {  // one bad batch must not hide those after it
      notices_.count("Damaged batches of samples left out");
    }
  }
  std::move(bins).move_to(timeline_, device);
  for (auto& [config, figures] : join.finish()) {
    for (auto& [metric, figure] : figures) {
      timeline_.measured[config][metric].push_back(figure.mean);
      timeline_.sampled[config].insert_or_assign(metric, figure);
    }
  }
}

}  // namespace dlkprof::model
