#include "cupti/counter_images.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

// Of 3,609 metrics of GH100 those that are no number without each instance of their counters (bench/instance_needs, H100,
// CUDA 13.0; results/2026-11-26-h100/sums.md).
constexpr const char* kGh100[] = {"sm__mio2rf_writeback_active.sum", "smsp__mio2rf_writeback_active.sum",
                                  "smsp__mio2rf_writeback_active_pipe_lsu.sum",
                                  "smsp__mio2rf_writeback_active_pipe_lsu_op_gmma.sum"};

constexpr std::uint32_t kNameBytes = 64;  // ranges are called "0", "1", …

struct Destroy {
  const NvPerf* nvperf;
  void operator()(NVPA_CounterDataBuilder* builder) const noexcept {
    auto params = DLKPROF_PARAMS(NVPW_CounterDataBuilder_Destroy_Params);
    params.pCounterDataBuilder = builder;
    (void)nvperf->NVPW_CounterDataBuilder_Destroy(&params);
  }
};
using Builder = std::unique_ptr<NVPA_CounterDataBuilder, Destroy>;

Builder new_builder(const NvPerf& nvperf, const std::string& chip) {
  auto params = DLKPROF_PARAMS(NVPW_CUDA_CounterDataBuilder_Create_Params);
  params.pChipName = chip.c_str();
  DLKPROF_NVPERF(nvperf, NVPW_CUDA_CounterDataBuilder_Create, &params);
  return {params.pCounterDataBuilder, Destroy{&nvperf}};
}

void add(const NvPerf& nvperf, NVPA_CounterDataBuilder* builder, std::span<const std::string> counters,
         const std::set<std::string>& instances) {
  std::vector<NVPW_RawCounterRequest> requests;
  for (const std::string& counter : counters) {
    NVPW_RawCounterRequest request{};
    request.pRawCounterName = counter.c_str();
    request.keepInstances = instances.contains(counter) ? 1 : 0;
    requests.push_back(request);
  }
  auto params = DLKPROF_PARAMS(NVPW_CounterDataBuilder_AddRawCounters_Params);
  params.pCounterDataBuilder = builder;
  params.rawCounterRequestStructSize = NVPW_RAW_COUNTER_REQUEST_STRUCT_SIZE;
  params.numRawCounterRequests = requests.size();
  params.pRawCounterRequests = requests.data();
  DLKPROF_NVPERF(nvperf, NVPW_CounterDataBuilder_AddRawCounters, &params);
}

std::vector<std::uint8_t> prefix_of(const NvPerf& nvperf, NVPA_CounterDataBuilder* builder) {
  auto params = DLKPROF_PARAMS(NVPW_CounterDataBuilder_GetCounterDataPrefix_Params);
  params.pCounterDataBuilder = builder;
  DLKPROF_NVPERF(nvperf, NVPW_CounterDataBuilder_GetCounterDataPrefix, &params);
  std::vector<std::uint8_t> prefix(params.bytesCopied);
  params.bytesAllocated = prefix.size();
  params.pBuffer = prefix.data();
  DLKPROF_NVPERF(nvperf, NVPW_CounterDataBuilder_GetCounterDataPrefix, &params);
  return prefix;
}

std::vector<std::string> raw_counters(const NvPerf& nvperf, const CollectionPlan& plan, std::size_t pass) {
  auto params = DLKPROF_PARAMS(NVPW_Config_GetRawCounters_Params);
  params.pConfig = plan.config_image.data();
  params.configSize = plan.config_image.size();
  params.passIndex = pass;
  DLKPROF_NVPERF(nvperf, NVPW_Config_GetRawCounters, &params);
  std::vector<const char*> names(params.numRawCounters);
  params.ppRawCounterNames = names.data();
  DLKPROF_NVPERF(nvperf, NVPW_Config_GetRawCounters, &params);
  return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), params.numRawCounters))};
}

// The smallest or largest of the instances: sm__cycles_active.max, gpc__cycles_elapsed.min.per_second.
bool is_of_instances(std::string_view metric) {
  const std::size_t base = metric.find("__");
  const std::size_t form = base == metric.npos ? metric.npos : metric.find('.', base);
  if (form == metric.npos) return false;
  const std::string_view rollup = metric.substr(form + 1, metric.find('.', form + 1) - form - 1);
  return rollup == "max" || rollup == "min";
}

bool can_lay_out(const Library& library, const NvPerf& nvperf) {
  return library.cuptiProfilerCounterDataImageCalculateSize != nullptr &&
         library.cuptiProfilerCounterDataImageInitialize != nullptr && nvperf.NVPW_Config_GetRawCounters != nullptr &&
         nvperf.NVPW_CUDA_CounterDataBuilder_Create != nullptr && nvperf.NVPW_CounterDataBuilder_Destroy != nullptr &&
         nvperf.NVPW_CounterDataBuilder_AddRawCounters != nullptr &&
         nvperf.NVPW_CounterDataBuilder_GetCounterDataPrefix != nullptr;
}

// Those of `more` that `all` lacks go behind it.
void merge(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& name : more) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
  }
}

}  // namespace

std::vector<std::string> raw_counters(const NvPerf& nvperf, const CollectionPlan& plan) {
  std::vector<std::string> all;
  for (std::size_t pass = 0; pass < plan.passes; ++pass) merge(all, raw_counters(nvperf, plan, pass));
  return all;
}

std::vector<std::string> metrics_of_instances(const Host& host, std::span<const std::string> metrics) {
  std::vector<std::string> needed;
  std::copy_if(std::begin(kGh100), std::end(kGh100), std::back_inserter(needed),
               [&](const char* metric) { return host.offers(metric); });
  std::copy_if(metrics.begin(), metrics.end(), std::back_inserter(needed), is_of_instances);
  return needed;
}

std::optional<CounterImages> CounterImages::create(const Library& library, const Host& host,
                                                   std::span<const CollectionPlan* const> plans) {
  const NvPerf& nvperf = NvPerf::open(library);
  if (!can_lay_out(library, nvperf)) return std::nullopt;
  std::vector<std::string> counters, metrics;
  for (const CollectionPlan* plan : plans) {
    if (!host.can_sum(*plan)) return std::nullopt;
    merge(counters, raw_counters(nvperf, *plan));
    merge(metrics, plan->metrics);
  }
  const std::vector<std::string> needed = metrics_of_instances(host, metrics);
  std::set<std::string> instances;
  if (!needed.empty()) {
    for (std::string& counter : raw_counters(nvperf, host.plan(needed))) instances.insert(std::move(counter));
  }
  return CounterImages(library, host.chip(), counters, instances);
}

CounterImages::CounterImages(const Library& library, const std::string& chip, std::span<const std::string> counters,
                             const std::set<std::string>& instances)
    : library_(&library) {
  const NvPerf& nvperf = NvPerf::open(library);
  const Builder builder = new_builder(nvperf, chip);
  add(nvperf, builder.get(), counters, instances);
  prefix_ = prefix_of(nvperf, builder.get());
}

std::vector<std::uint8_t> CounterImages::empty(std::size_t launches) const {
  CUpti_Profiler_CounterDataImageOptions options{};
  options.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
  options.pCounterDataPrefix = prefix_.data();
  options.counterDataPrefixSize = prefix_.size();
  options.maxNumRanges = options.maxNumRangeTreeNodes = static_cast<std::uint32_t>(launches);
  options.maxRangeNameLength = kNameBytes;
  auto size = DLKPROF_PARAMS(CUpti_Profiler_CounterDataImage_CalculateSize_Params);
  size.sizeofCounterDataImageOptions = options.structSize;
  size.pOptions = &options;
  DLKPROF_CUPTI(*library_, cuptiProfilerCounterDataImageCalculateSize, &size);
  std::vector<std::uint8_t> image(size.counterDataImageSize);
  auto params = DLKPROF_PARAMS(CUpti_Profiler_CounterDataImage_Initialize_Params);
  params.sizeofCounterDataImageOptions = options.structSize;
  params.pOptions = &options;
  params.counterDataImageSize = image.size();
  params.pCounterDataImage = image.data();
  DLKPROF_CUPTI(*library_, cuptiProfilerCounterDataImageInitialize, &params);
  return image;
}

}  // namespace dlkprof::cupti
