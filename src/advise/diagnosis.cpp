#include "advise/diagnosis.h"

#include <cmath>

#include "advise/occupancy_advice.h"
#include "advise/rules.h"
#include "advise/stalls.h"
#include "advise/verdict.h"

namespace dlkprof::advise {
namespace {

using model::DiagnosedRow;
using model::Diagnosis;

void add_verdict(Diagnosis& made, DiagnosedRow row, const Evidence& evidence, const model::Counters& counters) {
  const Judgement judgement = judge(evidence, counters);
  if (judgement.verdict == Verdict::unknown) return;
  made.verdicts.push_back({row, verdict_text(judgement.verdict), reason_text(judgement), judgement.bound_ns, judgement.sm_percent,
                           judgement.memory_percent, judgement.filled_percent, judgement.waited_percent});
}

void add_stalls(Diagnosis& made, DiagnosedRow row, const model::Counters& counters) {
  for (const Stall& stall : stalls_of(counters.values)) {
    if (std::isfinite(stall.cycles)) made.stalls.push_back({row, stall.name, stall.cycles, stall.percent, stall.waits()});
  }
}

template <typename Row>
void add_rows(Diagnosis& made, DiagnosedRow::Kind kind, const std::vector<Row>& rows, const std::vector<Evidence>& evidence) {
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    add_verdict(made, {kind, rank}, evidence[rank], rows[rank].counters);
    add_stalls(made, {kind, rank}, rows[rank].counters);
  }
}

void add_occupancy(Diagnosis& made, const model::Timeline& timeline, const ConfigUse& use) {
  if (use.kernel == model::kNone) return;
  const OccupancyAdvice advice = advise_occupancy(timeline, use);
  const auto gpu_ns = use.timed == 0 ? std::nullopt : std::optional(use.gpu_ns);
  made.occupancy.push_back({use.config, use.launches, use.samples, gpu_ns, advice.theoretical, advice.achieved,
                            advice.idle_sms_percent, advice.tail_percent, gap_text(advice, use), step_text(advice)});
}

}  // namespace

Diagnosis diagnosis_of(const model::Profile& profile) {
  Diagnosis made;
  for (const Finding& finding : diagnose(profile)) {
    const Rule& rule = *finding.rule;
    made.findings.push_back({rule.name, rule.detector, rule.headline, finding.problem, finding.recommendation, finding.where,
                             finding.basis, finding.bound_ns, finding.op});
  }
  const EvidenceTable evidence = gather_evidence(profile);
  add_rows(made, DiagnosedRow::Kind::op, profile.aggregate.ops, evidence.ops);
  add_rows(made, DiagnosedRow::Kind::kernel, profile.aggregate.kernels, evidence.kernels);
  for (const ConfigUse& use : config_uses(profile)) add_occupancy(made, profile.timeline, use);
  return made;
}

}  // namespace dlkprof::advise
