#include "model/timeline/raw_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "capture/encoding.h"
#include "cupti/host.h"
#include "cupti/machine.h"
#include "cupti/untrusted.h"

namespace dlkprof::model {

namespace {

// Where so many images cannot be evaluated, or so many bytes of them, more of them cannot either, and each takes time.
constexpr std::size_t kMostFailures = 16;
constexpr std::size_t kMostFailedBytes = std::size_t{256} << 20U;
// A program has few metric sets; a hostile capture shall not have us keep an image for each of a million.
constexpr std::size_t kMostBases = 16;
constexpr std::size_t kMostBaseBytes = std::size_t{128} << 20U;

}  // namespace

struct RawEvaluator::Chip {
  std::optional<cupti::Host> host;  // none: could not be had, and is not asked for again
  std::optional<cupti::UntrustedEvaluator> evaluator;
  std::map<std::uint32_t, std::vector<std::string>> extras;  // by metric set
};

RawEvaluator::RawEvaluator(std::filesystem::path cupti_path, std::vector<std::string> extra_metrics)
    : cupti_path_(std::move(cupti_path)), extra_metrics_(std::move(extra_metrics)) {}

RawEvaluator::~RawEvaluator() = default;

void RawEvaluator::note(const std::string& what, const std::string& detail, const std::string& remedy) {
  const bool known = std::any_of(notices_.begin(), notices_.end(), [&](const capture::NoticeRecord& notice) {
    return notice.what == what && notice.detail == detail;
  });
  if (!known) notices_.push_back({capture::Severity::warning, what, detail, remedy});
}

void RawEvaluator::begin_capture() {
  bases_.clear();
  for (auto& [name, chip] : chips_) chip->extras.clear();
}

std::optional<std::map<std::string, double>> RawEvaluator::evaluate(capture::RawCountersRecord&& raw,
                                                                    const capture::MetricSetRecord& set, const std::string& chip,
                                                                    bool stored) {
  std::optional<Values> values;
  if ((!stored || asks_for_more(set)) && failures_ < kMostFailures && failed_bytes_ < kMostFailedBytes) {
    try {
      values = evaluate_on(chip_of(chip), raw, set, stored);
    } catch (const Error& error) {
      ++failures_;
      note("Kept counters were not evaluated here; the values stored in the capture are shown",
           error.detail().empty() ? error.what() : fmt::format("{}: {}", error.what(), error.detail()), error.remedy());
    }
  }
  if (raw.base_launch_index == capture::kNoBase) keep_base(std::move(raw));
  return values;
}

bool RawEvaluator::asks_for_more(const capture::MetricSetRecord& set) const {
  return std::any_of(extra_metrics_.begin(), extra_metrics_.end(), [&](const std::string& metric) {
    return std::find(set.metrics.begin(), set.metrics.end(), metric) == set.metrics.end();
  });
}

RawEvaluator::Chip& RawEvaluator::chip_of(const std::string& name) {
  std::unique_ptr<Chip>& chip = chips_[name];
  if (!chip) {
    chip = std::make_unique<Chip>();
    chip->host = cupti::Host::create(cupti::open_library(cupti_path_), name);
    chip->evaluator.emplace(*chip->host);
  }
  return *chip;
}

std::optional<RawEvaluator::Values> RawEvaluator::evaluate_on(Chip& chip, const capture::RawCountersRecord& raw,
                                                              const capture::MetricSetRecord& set, bool stored) {
  if (!chip.evaluator) return std::nullopt;
  const auto answered = chip.extras.find(set.id);
  if (stored && answered != chip.extras.end() && answered->second.empty()) return std::nullopt;
  const std::vector<std::uint8_t> image = unpack(raw);
  failed_bytes_ += image.size();  // until it is evaluated
  std::vector<std::string> metrics = stored ? std::vector<std::string>() : set.metrics;
  for (const std::string& extra : extras(chip, set, image)) metrics.push_back(extra);
  if (metrics.empty()) return std::nullopt;
  const std::vector<double> numbers = chip.evaluator->evaluate(image, 0, metrics);
  failed_bytes_ -= image.size();
  Values values;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) values[metrics[i]] = numbers[i];
  }
  return values;
}

std::vector<std::uint8_t> RawEvaluator::unpack(const capture::RawCountersRecord& raw) {
  if (raw.base_launch_index == capture::kNoBase) return capture::unpack_image(raw);
  return capture::unpack_image(raw, base_image(raw));
}

// Empty where it is missing.
std::span<const std::uint8_t> RawEvaluator::base_image(const capture::RawCountersRecord& raw) {
  const auto found = bases_.find(raw.metric_set);
  if (found == bases_.end() || found->second.record.launch_index != raw.base_launch_index) return {};
  Base& base = found->second;
  if (base.image.empty()) {
    std::size_t held = base.record.image_bytes;
    for (const auto& [set, other] : bases_) held += other.image.size();
    if (held > kMostBaseBytes) {
      for (auto& [set, other] : bases_) other.image = {};
    }
    base.image = capture::unpack_image(base.record);
  }
  return base.image;
}

void RawEvaluator::keep_base(capture::RawCountersRecord&& raw) {
  const std::uint32_t set = raw.metric_set;
  if (bases_.size() < kMostBases || bases_.contains(set)) bases_[set] = {std::move(raw), {}};
}

const std::vector<std::string>& RawEvaluator::extras(Chip& chip, const capture::MetricSetRecord& set,
                                                     const std::vector<std::uint8_t>& image) {
  const auto [place, fresh] = chip.extras.try_emplace(set.id);
  for (std::size_t i = 0; fresh && i < extra_metrics_.size(); ++i) {
    const std::string& metric = extra_metrics_[i];
    if (std::find(set.metrics.begin(), set.metrics.end(), metric) != set.metrics.end()) continue;
    try {
      (void)chip.evaluator->evaluate(image, 0, {metric});
      place->second.push_back(metric);
    } catch (const Error& error) {
      note(fmt::format("{} cannot be had from the counters that were kept", metric), error.detail(),
           "Name it with --metrics when profiling.");
    }
  }
  return place->second;
}

}  // namespace dlkprof::model
