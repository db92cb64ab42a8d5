#include "report/launches/reports.h"

#include <algorithm>
#include <string>

#include "report/diagnosis/diagnosis_rows.h"

namespace dlkprof::report {
namespace {

struct SamplingLine : DiagnosisRow {
  const std::string* metric = nullptr;
  const model::Counters::Sampled* sampled = nullptr;
  [[nodiscard]] std::optional<double> value() const {
    const auto found = counters().values.find(*metric);
    return found == counters().values.end() ? std::nullopt : std::optional(found->second);
  }
  // The end of its confidence interval on one side (-1) or the other.
  [[nodiscard]] std::optional<double> bound(int side) const {
    const auto mean = value();
    return mean && sampled->interval ? std::optional(*mean + side * *sampled->interval) : std::nullopt;
  }
};

std::vector<SamplingLine> sampling_lines(const model::Profile& profile) {
  std::vector<SamplingLine> lines;
  for (const DiagnosisRow& row : diagnosis_rows(profile, DiagnosisOf::measured)) {
    for (const auto& [metric, sampled] : row.counters().sampled) lines.push_back({row, &metric.text(), &sampled});
  }
  return lines;
}

Fields<SamplingLine> sampling_fields(const model::Profile& profile) {
  using Line = SamplingLine;
  Fields<Line> fields;
  append(fields, diagnosis_fields(profile));
  fields.push_back({"Metric", "", [](const Line& row) -> Cell { return *row.metric; }});
  fields.push_back({"Value", "of the metric", [](const Line& row) { return number_cell(row.value()); }});
  fields.push_back({"# Samples", "", [](const Line& row) -> Cell { return row.sampled->samples; }});
  fields.push_back({"# Launches Sampled", "", [](const Line& row) -> Cell { return row.sampled->launches; }});
  fields.push_back({"95 % Low", "of the metric", [](const Line& row) { return number_cell(row.bound(-1)); }});
  fields.push_back({"95 % High", "of the metric", [](const Line& row) { return number_cell(row.bound(1)); }});
  return fields;
}

using model::SampleBin;

std::int64_t middle(const SampleBin& bin) { return bin.start_ns + (bin.end_ns - bin.start_ns) / 2; }

// The last iteration that begins before the bin's middle; none before the first.
const model::Iteration* iteration_of(const model::Fold& fold, const SampleBin& bin) {
  const auto after =
      std::upper_bound(fold.iterations.begin(), fold.iterations.end(), middle(bin),
                       [](std::int64_t time, const model::Iteration& iteration) { return time < iteration.start_ns; });
  return after == fold.iterations.begin() ? nullptr : &*(after - 1);
}

Fields<SampleBin> utilization_fields(const model::Profile& profile) {
  const model::Fold& fold = profile.fold;
  const model::Timeline& timeline = profile.timeline;
  return {{"GPU", "", [](const SampleBin& bin) -> Cell { return std::uint64_t{bin.device}; }},
          {"Metric", "", [&timeline](const SampleBin& bin) -> Cell { return timeline.sampled_metrics[bin.metric]; }},
          {"Iteration", "",
           [&fold](const SampleBin& bin) -> Cell {
             const auto* iteration = iteration_of(fold, bin);
             return iteration == nullptr ? Cell{} : Cell{static_cast<std::uint64_t>(iteration - fold.iterations.data())};
           }},
          {"Time in Iteration (ns)", "ns",
           [&fold](const SampleBin& bin) -> Cell {
             const auto* iteration = iteration_of(fold, bin);
             return iteration == nullptr ? Cell{} : Cell{middle(bin) - iteration->start_ns};
           }},
          {"Start (ns)", "ns", [](const SampleBin& bin) -> Cell { return bin.start_ns; }},
          {"Length (ns)", "ns", [](const SampleBin& bin) -> Cell { return bin.end_ns - bin.start_ns; }},
          {"# Samples", "", [](const SampleBin& bin) -> Cell { return bin.samples; }},
          {"Value", "of the metric", [](const SampleBin& bin) -> Cell { return bin.value; }}};
}

}  // namespace

Rows sampling_report(const model::Profile& profile) {
  return make_rows("sampling", sampling_fields(profile), sampling_lines(profile));
}

Rows utilization_report(const model::Profile& profile) {
  return make_rows("utilization", utilization_fields(profile), profile.timeline.bins);
}

}  // namespace dlkprof::report
