#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "dlkprof/version.h"
#include "model/names.h"
#include "report/diagnosis/evidence.h"
#include "report/diagnosis/reports.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFindingsSchema = "dlkprof/findings/1";

Json number(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json as_json(const EvidenceFigure& figure) {
  Json made{{"what", figure.what}, {"value", number(figure.value)}, {"unit", figure.unit}};
  made["n"] = figure.n ? Json(*figure.n) : Json(nullptr);
  made["interval"] = figure.low && figure.high ? Json{number(figure.low), number(figure.high)} : Json(nullptr);
  made["query"] = figure.query;
  return made;
}

Json gain_json(const advise::Finding& finding, std::size_t rank, const EvidenceFinder& finder, const model::Summary& summary) {
  const auto gain = finder.gain(finding, rank);
  if (!gain) return nullptr;
  const auto wall = static_cast<double>(summary.wall_ns);
  return {{"ns_per_iteration", number(gain->value)},
          {"pct", wall > 0 ? number(100 * static_cast<double>(*finding.bound_ns) / wall) : Json(nullptr)},
          {"is", "upper bound"},
          {"query", gain->query}};
}

// What has a profile record ops, by the framework that marked those of this one.
const char* options_of_ops(const model::Fold& fold) {
  const auto has = [&fold](auto... frameworks) {
    return std::any_of(fold.ops.begin(), fold.ops.end(),
                       [=](const model::Op& op) { return ((op.framework == frameworks) || ...); });
  };
  if (has(model::Framework::pytorch, model::Framework::dlkprof)) return "--mode pytorch";
  return has(model::Framework::xla) ? "--mode jax" : "--timeline on";
}

// What to run after the change, and which of the figures is then to be smaller.
Json verify_json(const advise::Finding& finding, const EvidenceFigure& first, const model::Fold& fold) {
  const bool source = std::string_view(finding.rule->sections) == "source";  // a run of its own, without ops
  std::string profile = source ? "dlkprof" : std::string("dlkprof ") + options_of_ops(fold);
  if (*finding.rule->sections != '\0') profile += fmt::format(" --section {}", finding.rule->sections);
  return {{"profile_again", profile + " --base_name after <program>"},
          {"compare", "dlkprof compare <this database> after_dldb.sqlite"},
          {"look_at", first.query}};
}

Json finding_json(const advise::Finding& finding, std::size_t rank, const EvidenceFinder& finder, const model::Profile& profile) {
  const std::vector<EvidenceFigure> evidence = finder.evidence(finding);
  Json made{{"id", fmt::format("{}-{}", finding.rule->name, rank + 1)},
            {"rule", finding.rule->name},
            {"headline", finding.rule->headline},
            {"claim", finding.problem},
            {"recommendation", finding.recommendation},
            {"place", finding.where}};
  const model::Op* op = finding.op == model::kNone ? nullptr : &profile.fold.ops[finding.op];
  made["op_id"] = op == nullptr ? Json(nullptr) : Json(op->id);
  made["op_name"] = op == nullptr ? Json(nullptr) : Json(op->name);
  made["direction"] = op == nullptr ? "" : model::name_in(model::kDirections, op->direction);
  made["config"] = finding.config == model::kNone ? Json(nullptr) : Json(finding.config);
  made["basis"] = finding.basis;
  made["fires"] = finding.rule->fires;
  made["threshold_from"] = finding.rule->source;
  made["evidence"] = Json::array();
  for (const EvidenceFigure& figure : evidence) made["evidence"].push_back(as_json(figure));
  made["estimated_gain"] = gain_json(finding, rank, finder, profile.aggregate.summary);
  made["verify"] = verify_json(finding, evidence.front(), profile.fold);
  return made;
}

Json abstention_json(const Abstention& one) {
  return {{"rule", one.rule == nullptr ? Json(nullptr) : Json(one.rule->name)},
          {"headline", one.rule == nullptr ? Json(nullptr) : Json(one.rule->headline)},
          {"not_measured_because", one.reason},
          {"collect_with", one.collect_with}};
}

Json run_json(const model::Profile& profile, const EvidenceFinder& finder) {
  const model::Timeline& timeline = profile.timeline;
  Json gpus = Json::array();
  for (const model::Device& device : timeline.devices) gpus.push_back(device.record.name);
  Json program = Json::array();
  if (!timeline.processes.empty()) program = timeline.processes.front().record.arguments;
  const model::Summary& summary = profile.aggregate.summary;
  return {{"program", std::move(program)},
          {"gpus", std::move(gpus)},
          {"iterations",
           {{"first", profile.aggregate.first_iteration},
            {"last", profile.aggregate.last_iteration},
            {"aggregated", summary.aggregated_iterations},
            {"total", summary.total_iterations}}},
          {"iteration_time", as_json(finder.iteration_time())}};
}

// A row of the report.
struct FindingFigure {
  const advise::Finding* finding = nullptr;
  std::size_t rank = 0;
  EvidenceFigure figure;
};

Fields<FindingFigure> figure_fields() {
  using Row = FindingFigure;
  const auto text = [](std::string EvidenceFigure::*part) {
    return [part](const Row& row) { return text_cell(row.figure.*part); };
  };
  const auto value = [](std::optional<double> EvidenceFigure::*part) {
    return [part](const Row& row) { return number_cell(row.figure.*part); };
  };
  return {{"Finding", "", [](const Row& row) -> Cell { return std::uint64_t{row.rank + 1}; }},
          {"Rule", "", [](const Row& row) -> Cell { return row.finding->rule->name; }},
          {"Claim", "", [](const Row& row) -> Cell { return row.finding->problem; }},
          {"Evidence", "", text(&EvidenceFigure::what)},
          {"Value", "", value(&EvidenceFigure::value)},
          {"Unit", "", text(&EvidenceFigure::unit)},
          {"n", "", [](const Row& row) -> Cell { return row.figure.n ? Cell{*row.figure.n} : Cell{}; }},
          {"Low", "", value(&EvidenceFigure::low)},
          {"High", "", value(&EvidenceFigure::high)},
          {"Query", "", text(&EvidenceFigure::query)}};
}

}  // namespace

std::string findings_json(const model::Profile& profile) {
  const EvidenceFinder finder(profile);
  Json document{{"schema", kFindingsSchema}, {"dlkprof", DLKPROF_VERSION}, {"run", run_json(profile, finder)}};
  document["findings"] = Json::array();
  std::size_t rank = 0;
  for (const advise::Finding& finding : advise::diagnose(profile))
    document["findings"].push_back(finding_json(finding, rank++, finder, profile));
  document["not_measured"] = Json::array();
  for (const Abstention& one : finder.abstentions()) document["not_measured"].push_back(abstention_json(one));
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Rows findings_report(const model::Profile& profile) {
  const auto findings = std::make_shared<const advise::Findings>(advise::diagnose(profile));
  const EvidenceFinder finder(profile);
  const auto rows = std::make_shared<std::vector<FindingFigure>>();
  for (std::size_t rank = 0; rank < findings->size(); ++rank) {
    const advise::Finding& finding = (*findings)[rank];
    for (EvidenceFigure& figure : finder.evidence(finding)) rows->push_back({&finding, rank, std::move(figure)});
    if (auto gain = finder.gain(finding, rank)) rows->push_back({&finding, rank, std::move(*gain)});
  }
  return make_rows("findings", figure_fields(), rows->size(),
                   [findings, rows](std::size_t i) -> const FindingFigure& { return (*rows)[i]; });
}

}  // namespace dlkprof::report
