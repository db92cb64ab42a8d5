#include "report/diagnosis/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "advise/occupancy_advice.h"
#include "advise/quantities.h"
#include "model/aggregate/spread.h"
#include "model/samples/student_t.h"
#include "report/diagnosis/reports.h"

namespace dlkprof::report {
namespace {

// A figure of view summary.
struct SummaryFigure {
  const char* column;
  const char* unit;
  const char* what;
  std::optional<double> (*value)(const model::Summary& summary);
};
constexpr SummaryFigure kGpuShare{"gpu_pct", "%", "share of the time in which a GPU is active",
                                  [](const model::Summary& it) { return std::optional(it.share.gpu); }};
constexpr SummaryFigure kMemoryShare{"memory_pct", "%", "share of the time in which copies and sets run alone",
                                     [](const model::Summary& it) { return std::optional(it.share.memory); }};
constexpr SummaryFigure kLoaderShare{"dataloader_pct", "%", "share of the time in which only the data loader works",
                                     [](const model::Summary& it) { return std::optional(it.share.dataloader); }};
constexpr SummaryFigure kDeviation{"iteration_deviation_ns", "ns", "standard deviation of the iteration time",
                                   [](const model::Summary& it) { return std::optional(it.iteration_deviation_ns); }};
constexpr SummaryFigure kGpuTime{"all_ops_gpu_ns", "ns", "GPU time of all ops in the iterations aggregated",
                                 [](const model::Summary& it) { return std::optional(static_cast<double>(it.all_ops.gpu_ns)); }};
constexpr SummaryFigure kWithoutTensorCores{
    "eligible_without_tc_gpu_ns", "ns", "GPU time of ops that could use tensor cores and do not",
    [](const model::Summary& it) { return std::optional(static_cast<double>(it.eligible_without_tc.gpu_ns)); }};

// What each rule looks at, beside the GPU time of its place.
struct RuleEvidence {
  std::string_view rule;
  std::vector<SummaryFigure> summary = {};
  std::vector<advise::Quantity> quantities = {};
};
const std::vector<RuleEvidence>& rule_evidence() {
  static const std::vector<RuleEvidence> kAll{
      {"iteration_range", {kDeviation}},
      {"amp", {kGpuTime, kWithoutTensorCores}},
      {"tensor_cores_unused", {}, {advise::Quantity::tensor_pipe}},
      {"dataloader", {kLoaderShare}},
      {"cudnn_benchmark", {kGpuTime}},
      {"batch_size", {kGpuShare}},
      {"gpu_imbalance", {kGpuShare}},
      {"gpu_underused", {kGpuShare}},
      {"launch_bound", {kGpuShare}},
      {"register_limited",
       {},
       {advise::Quantity::sm_throughput, advise::Quantity::memory_throughput, advise::Quantity::achieved_occupancy}},
      {"uncoalesced", {}, {advise::Quantity::sectors_per_load, advise::Quantity::sectors_per_store}},
      {"bank_conflicts", {}, {advise::Quantity::bank_conflicts, advise::Quantity::shared_wavefronts}},
      {"divergence", {}, {advise::Quantity::active_threads}},
      {"exposed_copies", {kMemoryShare}},
      {"layout_transposes", {kGpuTime}},
      {"slow_collectives", {kGpuTime}}};
  return kAll;
}

const RuleEvidence* evidence_of(const advise::Rule& rule) {
  const std::vector<RuleEvidence>& all = rule_evidence();
  const auto found = std::find_if(all.begin(), all.end(), [&rule](const RuleEvidence& one) { return one.rule == rule.name; });
  return found == all.end() ? nullptr : &*found;
}

// The metrics of a quantity that are there.
std::vector<std::string> metrics_of(advise::Quantity quantity, const advise::Values& values) {
  for (const std::vector<const char*>& metrics : advise::quantity_source(quantity).alternatives) {
    if (std::all_of(metrics.begin(), metrics.end(), [&values](const char* metric) { return values.contains(metric); }))
      return {metrics.begin(), metrics.end()};
  }
  return {};
}

void set_interval(EvidenceFigure& figure, double mean, double deviation, std::uint64_t n) {
  figure.n = n;
  if (n < 2 || !std::isfinite(deviation)) return;
  const double half = model::student_t(n - 1) * deviation / std::sqrt(static_cast<double>(n));
  figure.low = mean - half;
  figure.high = mean + half;
}

std::string counter_unit(const std::string& metric) {
  if (metric.find("pct") != std::string::npos) return "%";
  return metric.find("bytes") != std::string::npos ? "byte" : "";
}

// The mean over the launches of a configuration that were measured, or over its samples.
EvidenceFigure counter_of_config(const model::Timeline& timeline, std::uint32_t config, const std::string& metric) {
  EvidenceFigure figure{.what = metric, .unit = counter_unit(metric)};
  const std::string where = fmt::format("WHERE config = {} AND metric = {}", config, sql_text(metric));
  const auto sampled = timeline.sampled.find(config);
  if (sampled != timeline.sampled.end() && sampled->second.contains(metric)) {
    const model::SampledFigure& it = sampled->second.at(metric);
    figure.value = it.mean;
    figure.n = it.samples;
    if (it.interval) {
      figure.low = it.mean - *it.interval;
      figure.high = it.mean + *it.interval;
    }
    figure.query = "SELECT mean FROM sampled_metrics " + where;
    return figure;
  }
  model::Spread spread;
  for (const double value : timeline.measured.at(config).at(metric)) spread.add(value);
  figure.value = spread.mean();
  set_interval(figure, spread.mean().value_or(0), spread.deviation().value_or(NAN), spread.n());
  figure.query = "SELECT avg(value) FROM metric_samples " + where;
  return figure;
}

}  // namespace

std::string sql_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

EvidenceFinder::EvidenceFinder(const model::Profile& profile) : profile_(profile), configs_(advise::config_uses(profile)) {}

EvidenceFigure EvidenceFinder::iteration_time() const {
  const model::Summary& summary = profile_.aggregate.summary;
  EvidenceFigure figure{.what = "mean iteration time",
                        .unit = "ns",
                        .value = summary.mean_iteration_ns,
                        .query = "SELECT mean_iteration_ns FROM summary"};
  set_interval(figure, summary.mean_iteration_ns, summary.iteration_deviation_ns, summary.aggregated_iterations);
  return figure;
}

std::vector<EvidenceFigure> EvidenceFinder::evidence(const advise::Finding& finding) const {
  std::vector<EvidenceFigure> figures;
  if (finding.config != model::kNone) {
    add_of_config(finding, figures);
  } else if (finding.op != model::kNone) {
    add_of_op(finding, figures);
  }
  add_of_run(finding, figures);
  return figures;
}

void EvidenceFinder::add_of_run(const advise::Finding& finding, std::vector<EvidenceFigure>& to) const {
  const model::Summary& summary = profile_.aggregate.summary;
  if (const RuleEvidence* wanted = evidence_of(*finding.rule)) {
    for (const SummaryFigure& figure : wanted->summary) {
      to.push_back({.what = figure.what,
                    .unit = figure.unit,
                    .value = figure.value(summary),
                    .n = summary.aggregated_iterations,
                    .query = fmt::format("SELECT {} FROM summary", figure.column)});
    }
  }
  to.push_back(iteration_time());
}

void EvidenceFinder::add_of_op(const advise::Finding& finding, std::vector<EvidenceFigure>& to) const {
  const std::vector<model::OpRow>& rows = profile_.aggregate.ops;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const model::OpRow& one) { return one.op == finding.op; });
  if (row == rows.end()) return;
  const std::string id = sql_text(profile_.fold.ops[finding.op].id);
  to.push_back({.what = "GPU time of the op in the iterations aggregated",
                .unit = "ns",
                .value = static_cast<double>(row->gpu.total),
                .n = row->gpu.n,
                .query = fmt::format("SELECT gpu_total_ns FROM detail WHERE op_id = {}", id)});
  const RuleEvidence* wanted = evidence_of(*finding.rule);
  if (wanted == nullptr) return;
  for (const advise::Quantity quantity : wanted->quantities) {
    for (const std::string& metric : metrics_of(quantity, row->counters.values)) {
      EvidenceFigure figure{
          .what = metric, .unit = counter_unit(metric), .value = row->counters.values.at(metric), .n = row->counters.samples};
      if (const auto sampled = row->counters.sampled.find(metric); sampled != row->counters.sampled.end()) {
        figure.n = sampled->second.samples;
        if (sampled->second.interval) {
          figure.low = *figure.value - *sampled->second.interval;
          figure.high = *figure.value + *sampled->second.interval;
        }
      }
      figure.query = fmt::format("SELECT value FROM op_metrics WHERE op_id = {} AND metric = {}", id, sql_text(metric));
      to.push_back(std::move(figure));
    }
  }
}

void EvidenceFinder::add_of_config(const advise::Finding& finding, std::vector<EvidenceFigure>& to) const {
  const auto use =
      std::find_if(configs_.begin(), configs_.end(), [&](const advise::ConfigUse& one) { return one.config == finding.config; });
  if (use == configs_.end()) return;
  const std::string where = fmt::format("WHERE config = {}", finding.config);
  to.push_back({.what = "GPU time of the launch configuration in the iterations aggregated",
                .unit = "ns",
                .value = static_cast<double>(use->gpu_ns),
                .n = use->launches,
                .query = "SELECT gpu_total_ns FROM occupancy " + where});
  const advise::OccupancyAdvice advice = advise::advise_occupancy(profile_.timeline, *use);
  if (advice.theoretical) {
    to.push_back({.what = "theoretical occupancy",
                  .unit = "%",
                  .value = advice.theoretical->percent,
                  .query = "SELECT theoretical_pct FROM occupancy " + where});
  }
  if (advice.idle_sms_percent) {
    to.push_back({.what = "multiprocessors that get no block",
                  .unit = "%",
                  .value = advice.idle_sms_percent,
                  .query = "SELECT idle_sms_pct FROM occupancy " + where});
  }
  if (const RuleEvidence* wanted = evidence_of(*finding.rule)) {
    for (const advise::Quantity quantity : wanted->quantities) {
      for (const std::string& metric : metrics_of(quantity, use->values))
        to.push_back(counter_of_config(profile_.timeline, finding.config, metric));
    }
  }
}

std::optional<EvidenceFigure> EvidenceFinder::gain(const advise::Finding& finding, std::size_t rank) const {
  const std::uint64_t iterations = profile_.aggregate.summary.aggregated_iterations;
  if (!finding.bound_ns || iterations == 0) return std::nullopt;
  return EvidenceFigure{.what = "estimated gain, at most",
                        .unit = "ns an iteration",
                        .value = static_cast<double>(*finding.bound_ns) / static_cast<double>(iterations),
                        .n = iterations,
                        .query = fmt::format("SELECT gain_ns_per_iteration FROM findings LIMIT 1 OFFSET {}", rank)};
}

std::vector<Abstention> EvidenceFinder::abstentions() const {
  if (!profile_.has_ops()) return {{nullptr, "no ops were recorded", "--mode pytorch, or for another framework --timeline on"}};
  std::vector<Abstention> all;
  const double in_graphs = percent_in_graphs(profile_);
  for (const advise::Rule& rule : advise::rules()) {
    const RuleEvidence* wanted = evidence_of(rule);
    if (*rule.sections == '\0' || wanted == nullptr || wanted->quantities.empty()) continue;
    const auto has = [&](const advise::ConfigUse& use) {
      return std::any_of(wanted->quantities.begin(), wanted->quantities.end(),
                         [&use](advise::Quantity quantity) { return find(use.values, quantity).has_value(); });
    };
    if (std::any_of(configs_.begin(), configs_.end(), has)) continue;
    Abstention one{&rule, fmt::format("no counter of section {} was measured", rule.sections),
                   fmt::format("--section {}", rule.sections)};
    if (in_graphs >= kMostlyInGraphs) {
      const bool sampled = !profile_.timeline.sampled.empty();
      one.reason = fmt::format(
          "{:.3g} % of the GPU time of kernels is in CUDA graphs, which sections measure only if they can be taken apart{}",
          in_graphs, sampled ? ", and samples do not have these counters" : "");
      one.collect_with = sampled ? one.collect_with + ", in a run without CUDA graphs" : "--replay-mode sample";
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace dlkprof::report
