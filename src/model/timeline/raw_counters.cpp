#include "model/timeline/raw_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "capture/encoding.h"
#include "cupti/host.h"
#include "cupti/untrusted.h"

namespace dlkprof::model {

struct RawEvaluator::Chip {
  std::optional<cupti::Host> host;                           // none: could not be had, and is not asked for again
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

std::optional<std::map<std::string, double>> RawEvaluator::evaluate(const capture::RawCountersRecord& raw,
                                                                    const capture::MetricSetRecord& set,
                                                                    const std::string& chip_name) {
  try {
    std::unique_ptr<Chip>& chip = chips_[chip_name];
    if (!chip) {
      chip = std::make_unique<Chip>();
      chip->host = cupti::Host::create(cupti::Library::open(cupti_path_), chip_name);
    }
    if (!chip->host) return std::nullopt;
    const std::vector<std::uint8_t> image = unpack(raw);
    std::vector<std::string> metrics = set.metrics;
    for (const std::string& extra : extras(*chip, set, image)) metrics.push_back(extra);
    const std::vector<double> numbers = cupti::evaluate_untrusted(*chip->host, image, 0, metrics);
    std::map<std::string, double> values;
    for (std::size_t i = 0; i < std::min(numbers.size(), metrics.size()); ++i) {
      if (std::isfinite(numbers[i])) values[metrics[i]] = numbers[i];
    }
    return values;
  } catch (const Error& error) {
    note("Kept counters were not evaluated here; the values stored in the capture are shown",
         error.detail().empty() ? error.what() : fmt::format("{}: {}", error.what(), error.detail()), error.remedy());
    return std::nullopt;
  }
}

std::vector<std::uint8_t> RawEvaluator::unpack(const capture::RawCountersRecord& raw) {
  // A program has few metric sets; a hostile capture shall not have us keep an image for each of a million.
  constexpr std::size_t kMostBases = 16;
  if (raw.base_launch_index != capture::kNoBase) {
    const auto base = bases_.find(raw.metric_set);
    const bool same = base != bases_.end() && base->second.launch_index == raw.base_launch_index;
    return capture::unpack_image(raw, same ? std::span<const std::uint8_t>(base->second.image) : std::span<const std::uint8_t>());
  }
  auto image = capture::unpack_image(raw);
  if (bases_.size() < kMostBases || bases_.contains(raw.metric_set)) bases_[raw.metric_set] = {raw.launch_index, image};
  return image;
}

const std::vector<std::string>& RawEvaluator::extras(Chip& chip, const capture::MetricSetRecord& set,
                                                     const std::vector<std::uint8_t>& image) {
  const auto [place, fresh] = chip.extras.try_emplace(set.id);
  for (std::size_t i = 0; fresh && i < extra_metrics_.size(); ++i) {
    const std::string& metric = extra_metrics_[i];
    if (std::find(set.metrics.begin(), set.metrics.end(), metric) != set.metrics.end()) continue;
    try {
      (void)cupti::evaluate_untrusted(*chip.host, image, 0, {metric});
      place->second.push_back(metric);
    } catch (const Error& error) {
      note(fmt::format("{} cannot be had from the counters that were kept", metric), error.detail(),
           "Name it with --metrics when profiling.");
    }
  }
  return place->second;
}

}  // namespace dlkprof::model
