#include "report/launches/reports.h"

#include <algorithm>

#include "base/error.h"
#include "capture/options.h"

namespace dlkprof::report {
namespace {

using Requests = std::vector<capture::MetricRequest>;

bool contains(const Requests& requests, const capture::MetricRequest& wanted) {
  return std::find(requests.begin(), requests.end(), wanted) != requests.end();
}

bool contains_all(const Requests& requests, const Requests& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) { return contains(requests, one); });
}

}  // namespace

Asked asked_of(const model::Timeline& timeline, const cupti::Catalogue& catalogue) {
  Asked asked;
  Requests requests;
  try {
    const std::string none;
    const bool known = !timeline.processes.empty();
    requests = capture::options_from_json(known ? timeline.processes.front().record.options_json : none).metrics;
  } catch (const Error&) {
    asked.sections = catalogue.sections();
    return asked;
  }
  for (const cupti::Section& section : catalogue.sections()) {
    if (contains_all(requests, cupti::requests({section}))) asked.sections.push_back(section);
  }
  const Requests shown = cupti::requests(asked.sections);
  for (const capture::MetricRequest& request : requests) {
    if (contains(shown, request)) continue;
    asked.metrics.insert(asked.metrics.end(), request.names.begin(), request.names.end());
  }
  return asked;
}

}  // namespace dlkprof::report
