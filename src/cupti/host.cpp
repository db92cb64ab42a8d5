#include "cupti/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cupti/library.h"

namespace dlkprof::cupti {
namespace {

std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

std::vector<std::string> strings(const char* const* texts, std::size_t count) { return {texts, texts + count}; }

// NVPerf leaves some texts null.
std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

CUptiResult add_metrics(const Library& library, CUpti_Profiler_Host_Object* object, const std::vector<std::string>& metrics) {
  std::vector<const char*> names = c_strings(metrics);
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  params.pHostObject = object;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  return library.cuptiProfilerHostConfigAddMetrics(&params);
}

std::vector<std::uint8_t> config_image(const Library& library, CUpti_Profiler_Host_Object* object) {
  auto size = DLKPROF_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = object;
  DLKPROF_CUPTI(library, cuptiProfilerHostGetConfigImageSize, &size);
  std::vector<std::uint8_t> image(size.configImageSize);
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  params.pHostObject = object;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  DLKPROF_CUPTI(library, cuptiProfilerHostGetConfigImage, &params);
  return image;
}

std::size_t count_passes(const Library& library, std::vector<std::uint8_t>& image) {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  DLKPROF_CUPTI(library, cuptiProfilerHostGetNumOfPasses, &params);
  return params.numOfPasses;
}

struct NewObject {
  CUptiResult result = CUPTI_SUCCESS;
  CUpti_Profiler_Host_Object* object = nullptr;
};

NewObject initialize(const Library& library, const std::string& chip, const std::vector<std::uint8_t>& availability,
                     CollectBy by) {
  library.load_nvperf();
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  params.profilerType = by == CollectBy::samples ? CUPTI_PROFILER_TYPE_PM_SAMPLING : CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const CUptiResult result = library.cuptiProfilerHostInitialize(&params);
  return {result, result == CUPTI_SUCCESS ? params.pHostObject : nullptr};
}

void deinitialize(const Library& library, CUpti_Profiler_Host_Object* object) noexcept {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
  params.pHostObject = object;
  (void)library.cuptiProfilerHostDeinitialize(&params);
}

// Some that CUPTI lists it then refuses, integrated GPUs among them.
bool can_be_created(const Library& library, const std::string& chip) {
  const NewObject made = initialize(library, chip, {}, CollectBy::ranges);
  if (made.object != nullptr) deinitialize(library, made.object);
  return made.result == CUPTI_SUCCESS;
}

UsageError unknown_chip(const Library& library, const std::string& chip) {
  const std::vector<std::string> known = Host::chips(library);
  const std::string near = closest(chip, known);
  return {fmt::format("'{}' is no chip that this CUPTI can profile{}", printable(chip, 64),
                      near.empty() ? "" : fmt::format("; did you mean {}?", near)),
          "", fmt::format("It knows {}.", fmt::join(known, ", "))};
}

}  // namespace

void Host::Deinitialize::operator()(CUpti_Profiler_Host_Object* object) const noexcept { deinitialize(*library, object); }

bool CollectionPlan::patches_code() const {
  return std::any_of(metrics.begin(), metrics.end(),
                     [](const std::string& metric) { return metric.find("__sass_") != std::string::npos; });
}

Host::Host(const Library& library, std::string chip, std::vector<std::uint8_t> availability, CollectBy by,
           CUpti_Profiler_Host_Object* object)
    : library_(&library),
      chip_(std::move(chip)),
      availability_(std::move(availability)),
      by_(by),
      object_(object, Deinitialize{&library}) {}

Host Host::create(const Library& library, const std::string& chip, std::vector<std::uint8_t> availability, CollectBy by) {
  const NewObject made = initialize(library, chip, availability, by);
  if (made.result == CUPTI_ERROR_INVALID_CHIP_NAME || made.result == CUPTI_ERROR_NOT_SUPPORTED) throw unknown_chip(library, chip);
  check(library, made.result, "cuptiProfilerHostInitialize");
  return {library, chip, std::move(availability), by, made.object};
}

Host::HostObject Host::new_object() const {
  const NewObject made = initialize(*library_, chip_, availability_, by_);
  check(*library_, made.result, "cuptiProfilerHostInitialize");
  return {made.object, Deinitialize{library_}};
}

std::vector<std::string> Host::chips(const Library& library) {
  library.load_nvperf();
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params);
  DLKPROF_CUPTI(library, cuptiProfilerHostGetSupportedChips, &params);
  std::vector<std::string> names = strings(params.ppChipNames, params.numChips);
  std::erase_if(names, [&](const std::string& name) { return !can_be_created(library, name); });
  return names;
}

std::vector<std::string> Host::base_metrics(MetricType type) const {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params);
  params.pHostObject = object_.get();
  params.metricType = static_cast<CUpti_MetricType>(type);
  DLKPROF_CUPTI(*library_, cuptiProfilerHostGetBaseMetrics, &params);
  return strings(params.ppMetricNames, params.numMetrics);
}

std::vector<std::string> Host::submetrics(const std::string& base, MetricType type) const {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params);
  params.pHostObject = object_.get();
  params.metricType = static_cast<CUpti_MetricType>(type);
  params.pMetricName = base.c_str();
  DLKPROF_CUPTI(*library_, cuptiProfilerHostGetSubMetrics, &params);
  return strings(params.ppSubMetrics, params.numOfSubmetrics);
}

MetricProperties Host::properties(const std::string& metric) const {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
  params.pHostObject = object_.get();
  params.pMetricName = metric.c_str();
  if (library_->cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) {
    throw Error(fmt::format("{} has no metric '{}'", chip_, printable(metric, 200)), "",
                remedy_for(CUPTI_ERROR_INVALID_METRIC_NAME));
  }
  return {text_or_empty(params.pDescription), text_or_empty(params.pHwUnit), text_or_empty(params.pDimUnit),
          static_cast<MetricType>(params.metricType)};
}

bool Host::known(const std::string& metric) const {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
  params.pHostObject = object_.get();
  params.pMetricName = metric.c_str();
  return library_->cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
}

// Always a new object: one that has refused a metric once refuses everything after.
bool Host::schedulable(const std::vector<std::string>& metrics) const {
  return add_metrics(*library_, new_object().get(), metrics) == CUPTI_SUCCESS;
}

// Properties alone are no answer: NVPerf describes link and PCIe metrics that it cannot schedule, and a metric
// without its form.
bool Host::offers(const std::string& metric) const {
  const auto [place, is_new] = offered_.try_emplace(metric, false);
  if (is_new) place->second = known(metric) && schedulable({metric});
  return place->second;
}

// Asks for the likely answers in one call, which takes a tenth of the time that one call a metric would. Where the
// chip refuses any of them nothing is learned, and offers() asks one by one.
void Host::remember_offered(const std::vector<capture::MetricRequest>& requests) const {
  std::vector<std::string> likely;
  for (const auto& request : requests) {
    const auto name = std::ranges::find_if(request.names, [&](const std::string& candidate) { return known(candidate); });
    if (name != request.names.end()) likely.push_back(*name);
  }
  if (likely.empty() || !schedulable(likely)) return;
  for (const std::string& name : likely) offered_[name] = true;
}

ResolvedMetrics Host::resolve(const std::vector<capture::MetricRequest>& requests) const {
  remember_offered(requests);
  ResolvedMetrics resolved;
  const auto add_new = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const auto& request : requests) {
    const auto name = std::ranges::find_if(request.names, [&](const std::string& candidate) { return offers(candidate); });
    if (name != request.names.end()) {
      add_new(resolved.names, *name);
    } else if (!request.names.empty()) {
      add_new(resolved.unavailable, request.names.front());
    }
  }
  return resolved;
}

// All metrics go in by one call on a new object: NVPerf gives each call passes of its own, so that metrics added one
// by one take six times as many.
CollectionPlan Host::plan(const std::vector<std::string>& metrics) const {
  if (metrics.empty()) {
    throw Error("no metrics to collect", fmt::format("nothing that was asked for is offered by {}", chip_),
                "Ask for a metric set, --set basic, or for metrics that 'dlkprof metrics --chip " + chip_ + "' lists.");
  }
  const HostObject object = new_object();
  if (add_metrics(*library_, object.get(), metrics) != CUPTI_SUCCESS) {
    std::vector<std::string> refused = metrics;
    std::erase_if(refused, [&](const std::string& metric) { return offers(metric); });
    throw Error(fmt::format("{} cannot collect these metrics", chip_), fmt::format("{}", fmt::join(refused, ", ")),
                remedy_for(CUPTI_ERROR_INVALID_METRIC_NAME));
  }
  CollectionPlan plan{metrics, config_image(*library_, object.get()), 0};
  plan.passes = count_passes(*library_, plan.config_image);
  return plan;
}

// Which metrics need each instance is known of GH100 alone; images of counters in patched code cannot be laid out by us.
bool Host::can_sum(const CollectionPlan& plan) const { return chip_ == "GH100" && !plan.patches_code(); }

std::vector<double> Host::evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                   const std::vector<std::string>& metrics) const {
  std::vector<double> values(metrics.size());
  evaluate(image, range, c_strings(metrics), values);
  return values;
}

void Host::evaluate(std::span<const std::uint8_t> image, std::size_t range, std::span<const char* const> metrics,
                    std::span<double> values) const {
  if (metrics.empty()) return;
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = object_.get();
  params.pCounterDataImage = image.data();
  params.counterDataImageSize = image.size();
  params.rangeIndex = range;
  params.ppMetricNames = const_cast<const char**>(metrics.data());  // CUPTI only reads it
  params.numMetrics = metrics.size();
  params.pMetricValues = values.data();
  DLKPROF_CUPTI(*library_, cuptiProfilerHostEvaluateToGpuValues, &params);
}

}  // namespace dlkprof::cupti
