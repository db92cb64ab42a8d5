#include "report/diagnosis/reports.h"

#include <algorithm>
#include <utility>

#include "advise/verdict.h"
#include "report/diagnosis/diagnosis_rows.h"

namespace dlkprof::report {
namespace {

struct Judged : DiagnosisRow {
  advise::Judgement judgement;
};

std::vector<Judged> judge_rows(const model::Profile& profile) {
  const advise::EvidenceTable evidence = advise::gather_evidence(profile);
  std::vector<Judged> judged;
  for (const DiagnosisRow& row : diagnosis_rows(profile, DiagnosisOf::all)) {
    const advise::Evidence& its_own =
        row.kernel == nullptr ? evidence.ops[static_cast<std::size_t>(row.op - profile.aggregate.ops.data())]
                              : evidence.kernels[static_cast<std::size_t>(row.kernel - profile.aggregate.kernels.data())];
    advise::Judgement judgement = advise::judge(its_own, row.counters());
    // Nothing saves more than the iterations took.
    if (judgement.bound_ns) judgement.bound_ns = std::min(*judgement.bound_ns, profile.aggregate.summary.wall_ns);
    judged.push_back({row, std::move(judgement)});
  }
  return judged;
}

Fields<Judged> bound_fields(const model::Summary& summary) {
  const auto iterations = static_cast<double>(summary.aggregated_iterations);
  const auto wall = static_cast<double>(summary.wall_ns);
  const auto share = [](const Judged& row, double whole, double scale) -> Cell {
    if (!row.judgement.bound_ns || !(whole > 0)) return {};
    return scale * static_cast<double>(*row.judgement.bound_ns) / whole;
  };
  return {{"Savings Bound (ns/iteration)", "ns/iteration", [=](const Judged& row) { return share(row, iterations, 1); }},
          {"Savings Bound (%)", "%", [=](const Judged& row) { return share(row, wall, 100); }}};
}

Fields<Judged> bottleneck_fields(const model::Profile& profile) {
  Fields<Judged> fields;
  append(fields, diagnosis_fields(profile));
  fields.push_back({"Verdict", "", [](const Judged& row) { return text_cell(advise::verdict_text(row.judgement.verdict)); }});
  fields.push_back({"Reason", "", [](const Judged& row) { return text_cell(advise::reason_text(row.judgement)); }});
  fields.push_back({"SM Throughput (%)", "%", [](const Judged& row) { return number_cell(row.judgement.sm_percent); }});
  fields.push_back({"Memory Throughput (%)", "%", [](const Judged& row) { return number_cell(row.judgement.memory_percent); }});
  fields.push_back({"SMs Filled (%)", "%", [](const Judged& row) { return number_cell(row.judgement.filled_percent); }});
  fields.push_back({"Launches Waited For (%)", "%", [](const Judged& row) { return number_cell(row.judgement.waited_percent); }});
  append(fields, bound_fields(profile.aggregate.summary));
  return fields;
}

}  // namespace

Rows bottleneck_report(const model::Profile& profile) {
  return make_rows("bottleneck", bottleneck_fields(profile), judge_rows(profile));
}

}  // namespace dlkprof::report
