#include "inject/sampling/device_sampling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace dlkprof::inject {
namespace {

// As measured on an H200 with a dozen metrics: a sample takes less than 8 KB of the hardware's buffer and 28 KB of the image, and
// some 80 us to be read. What does not fit the image is lost, with the rest of the burst.
constexpr std::uint64_t kUsualIntervalNs = 10'000;
constexpr std::uint64_t kLongestIntervalNs = 1'000'000;
constexpr std::uint64_t kSamplesABurst = 3'600;
constexpr std::uint32_t kRoomInImage = 4'608;
constexpr std::size_t kHardwareBytes = std::size_t{64} << 20U;
// A longer burst would hold up the end of the program.
constexpr std::chrono::microseconds kLongestBurst{200'000};

class Computing {
 public:
  explicit Computing(const DeviceSampling::Output& output) : output_(output) { output_.on_computing(true); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() { output_.on_computing(false); }

 private:
  const DeviceSampling::Output& output_;
};

}  // namespace

DeviceSampling::DeviceSampling(const cupti::Library& library, const capture::DeviceRecord& device,
                               const std::vector<capture::MetricRequest>& metrics, std::uint64_t interval_ns, Output output)
    : library_(library),
      device_(device.index),
      output_(std::move(output)),
      adapts_(interval_ns == 0),
      host_(cupti::Host::create(library, device.chip, cupti::sampling_availability(library, device.index),
                                cupti::CollectBy::samples)),
      interval_ns_(adapts_ ? kUsualIntervalNs : interval_ns) {
  plan(device.chip, metrics);
}

void DeviceSampling::plan(const std::string& chip, const std::vector<capture::MetricRequest>& metrics) {
  const Computing computing(output_);
  plan_ = cupti::plan_sampling(host_, metrics);
  if (plan_.turns.empty()) {
    throw Error("none of the metrics asked for can be sampled on this GPU", chip,
                "Ask for --set quick, or use --replay-mode iteration or kernel.");
  }
  if (!plan_.unavailable.empty()) {
    output_.note(capture::Severity::info, fmt::format("{} of the metrics asked for cannot be sampled", plan_.unavailable.size()),
                 fmt::format("{} cannot count each of them in one pass: {}", chip, fmt::join(plan_.unavailable, ", ")),
                 "Use --replay-mode iteration or kernel for these.");
  }
  for (const auto& turn : plan_.turns) {
    sets_.push_back(output_.on_set({.device = device_, .passes = 1, .metrics = turn.metrics, .unavailable = plan_.unavailable}));
  }
}

std::chrono::microseconds DeviceSampling::burst_length() const {
  return std::min(kLongestBurst, std::chrono::microseconds(kSamplesABurst * interval_ns_ / 1'000));
}

void DeviceSampling::start() {
  if (std::exchange(overflowed_, false)) recover();
  try {
    start_turn();
  } catch (const Error&) {  // it may be in a state that only a new one leaves, as after a buffer that was full
    if (!sampler_) throw;
    recover();
    start_turn();
  }
}

void DeviceSampling::start_turn() {
  if (!sampler_) sampler_.emplace(cupti::PmSampler::create(library_, device_));
  if (configured_ != turn_) {
    sampler_->configure(turn(), {.interval_ns = interval_ns_, .hardware_bytes = kHardwareBytes, .most_samples = kRoomInImage});
    configured_ = turn_;
  }
  sampler_->start();
}

void DeviceSampling::recover() {
  sampler_.reset();
  configured_.reset();
}

void DeviceSampling::read() {
  read_turn();
  turn_ = (turn_ + 1) % plan_.turns.size();
}

void DeviceSampling::read_turn() {
  names_.clear();
  for (const auto& metric : turn().metrics) names_.push_back(metric.c_str());
  values_.resize(names_.size());
  batch_ = {};
  batch_.values.resize(names_.size());
  const auto decoded = sampler_->decode();
  evaluate(decoded.samples);
  if (decoded.overflow || decoded.image_full) ++lost_;
  write_batch();
  overflowed_ = decoded.overflow;
  if (overflowed_ && adapts_ && interval_ns_ < kLongestIntervalNs) interval_ns_ *= 2;
}

void DeviceSampling::evaluate(std::size_t samples) {
  const Computing computing(output_);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const auto [start_ns, end_ns] = sampler_->interval(sample);
    // The first sample of a burst begins at some earlier time.
    if (start_ns == 0 || end_ns <= start_ns || end_ns - start_ns > 2 * interval_ns_) continue;
    host_.evaluate(sampler_->image(), sample, names_, values_);
    batch_.start_ns.push_back(static_cast<std::int64_t>(start_ns));
    batch_.length_ns.push_back(static_cast<std::int64_t>(end_ns - start_ns));
    for (std::size_t i = 0; i < values_.size(); ++i) batch_.values[i].push_back(static_cast<float>(values_[i]));
    if (batch_.start_ns.size() >= capture::kSamplesInABatch) write_batch();
  }
}

void DeviceSampling::write_batch() {
  if (batch_.start_ns.empty() && lost_ == 0) return;
  auto record = capture::pack_samples(batch_);
  record.metric_set = sets_[turn_];
  record.interval_ns = static_cast<std::uint32_t>(interval_ns_);
  record.lost = std::exchange(lost_, 0);
  output_.on_samples(record);
  batch_.start_ns.clear();
  batch_.length_ns.clear();
  for (auto& values : batch_.values) values.clear();
}

}  // namespace dlkprof::inject
