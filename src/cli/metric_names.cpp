#include "cli/metric_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "cupti/host.h"
#include "cupti/machine.h"

namespace dlkprof::cli {

void check_metrics_exist(const std::vector<std::string>& metrics, const cupti::Catalogue& catalogue,
                         const std::filesystem::path& cupti_path) {
  auto unknown = metrics;
  std::erase_if(unknown, [&catalogue](const std::string& metric) { return catalogue.asks_for(metric); });
  if (unknown.empty()) return;
  const auto& library = cupti::open_library(cupti_path);
  std::vector<std::string> bases;
  for (const auto& chip : cupti::Host::chips(library)) {
    const auto host = cupti::Host::create(library, chip);
    std::erase_if(unknown, [&](const std::string& metric) { return host.offers(metric); });
    if (unknown.empty()) return;
    for (const auto type : {cupti::MetricType::counter, cupti::MetricType::ratio, cupti::MetricType::throughput}) {
      const auto some = host.base_metrics(type);
      bases.insert(bases.end(), some.begin(), some.end());
    }
  }
  const auto& metric = unknown.front();
  const auto near = closest(metric.substr(0, metric.find('.')), bases);
  throw UsageError("--metrics: no GPU has a metric " + printable(metric, 120), "",
                   (near.empty() ? "" : "Did you mean " + near + ".<sum|avg|...>? ") +
                       "List them: dlkprof metrics --chip GH100 --query <regex> --submetrics");
}

void check_metrics_measured(const std::vector<std::string>& metrics, const model::Timeline& timeline,
                            const cupti::Catalogue& catalogue, const std::filesystem::path& cupti_path) {
  std::vector<std::string> missing = metrics;
  std::erase_if(missing, [&timeline](const std::string& metric) {
    return std::any_of(timeline.measured.begin(), timeline.measured.end(),
                       [&metric](const auto& of_config) { return of_config.second.contains(metric); });
  });
  if (missing.empty()) return;
  try {
    check_metrics_exist(missing, catalogue, cupti_path);
  } catch (const UsageError&) {
    throw;
  } catch (const Error&) {
    // Without CUPTI nobody knows which metrics there are.
  }
  const Error words(fmt::format("{} was not measured in this run", printable(fmt::format("{}", fmt::join(missing, ", ")))),
                    cupti::has_profiler()
                        ? "nor can it be had from counters that were kept"
                        : "this dlkprof was built without the CUDA Toolkit, and evaluates no counters that were kept",
                    fmt::format("Profile with --metrics {}", printable(fmt::format("{}", fmt::join(missing, ",")))));
  if (missing.size() == metrics.size()) throw words;
  say("dlkprof: {}\n", words.message());
}

}  // namespace dlkprof::cli
