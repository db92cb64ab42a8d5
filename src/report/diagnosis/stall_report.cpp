#include "report/diagnosis/reports.h"

#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include "advise/sampled_stalls.h"
#include "advise/stalls.h"
#include "model/aggregate/provenance.h"
#include "report/diagnosis/diagnosis_rows.h"
#include "report/launches/launch_text.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kExplained = 3;

// A kernel function that PC sampling found, whatever op launched it.
struct SampledRow {
  const model::Kernel* kernel = nullptr;
  std::int64_t gpu_ns = 0;  // of all its launches; 0: not timed
  std::uint64_t samples = 0;
};

struct StallLine {
  std::optional<DiagnosisRow> measured;  // by counters
  SampledRow sampled;                    // where it is not
  advise::Stall stall;
  std::size_t rank = 0;  // among the waits, from 1; 0: no wait, or nothing measured
};

// A line for each of the stalls; one where there are none.
void add_stall_lines(std::vector<StallLine>& lines, const StallLine& row, const std::vector<advise::Stall>& stalls) {
  std::size_t rank = 0;
  for (const advise::Stall& stall : stalls) {
    lines.push_back(row);
    lines.back().stall = stall;
    lines.back().rank = stall.waits() ? ++rank : 0;
  }
  if (stalls.empty()) lines.push_back(row);
}

// Lines of what was measured; the kernels among them go into `measured`.
std::vector<StallLine> measured_stall_lines(const model::Profile& profile, std::set<std::uint32_t>& measured) {
  std::vector<StallLine> lines;
  for (const DiagnosisRow& row : diagnosis_rows(profile, DiagnosisOf::measured)) {
    const std::vector<advise::Stall> stalls = advise::stalls_of(row.counters().values);
    if (!stalls.empty() && row.kernel != nullptr) measured.insert(row.kernel->kernel);
    add_stall_lines(lines, {.measured = row, .sampled = {}, .stall = {}, .rank = 0}, stalls);
  }
  return lines;
}

std::vector<StallLine> stall_lines(const model::Profile& profile) {
  std::set<std::uint32_t> measured;
  std::vector<StallLine> lines = measured_stall_lines(profile, measured);
  std::unordered_map<std::uint32_t, std::int64_t> gpu_ns;
  for (const model::KernelRow& row : profile.aggregate.kernels) gpu_ns[row.kernel] += row.gpu.total;
  for (const advise::SampledKernel& kernel : advise::sampled_kernels(profile.timeline.pc_samples)) {
    if (measured.contains(kernel.kernel)) continue;
    const SampledRow row{&profile.timeline.kernels[kernel.kernel], gpu_ns[kernel.kernel], kernel.samples};
    add_stall_lines(lines, {.measured = std::nullopt, .sampled = row, .stall = {}, .rank = 0}, kernel.stalls);
  }
  return lines;
}

// What a column of measured rows holds for a kernel function.
Cell sampled_cell(const std::string& column, const SampledRow& row) {
  if (column == "Level") return "kernel";
  if (column == "Kernel Name") return text_cell(row.kernel->name);
  if (column == "Total GPU Time (ns)" && row.gpu_ns > 0) return row.gpu_ns;
  return {};
}

Fields<StallLine> fields_of_stalls() {
  const auto known = [](const StallLine& row) { return !row.stall.name.empty(); };
  const auto explained = [](const StallLine& row) {
    return row.stall.reason != nullptr && row.rank > 0 && row.rank <= kExplained;
  };
  return {
      {"Stall Reason", "", [](const StallLine& row) { return text_cell(row.stall.name); }},
      {"Cycles Per Issue", "cycle",
       [known](const StallLine& row) { return known(row) && std::isfinite(row.stall.cycles) ? Cell{row.stall.cycles} : Cell{}; }},
      {"Share (%)", "%", [known](const StallLine& row) { return known(row) ? Cell{row.stall.percent} : Cell{}; }},
      {"Meaning", "", [explained](const StallLine& row) { return explained(row) ? Cell{row.stall.reason->meaning} : Cell{}; }},
      {"What Usually Helps", "",
       [explained](const StallLine& row) { return explained(row) ? text_cell(row.stall.reason->remedy) : Cell{}; }}};
}

// As other reports say it of their counters; these here, too, where it is not known how they were collected.
Cell collected_cell(const StallLine& row) {
  if (row.stall.name.empty()) return {};
  if (!row.measured) return "PC sampling";
  const std::string replay_modes = model::replay_modes_text(row.measured->counters().replay_modes);
  return replay_modes.empty() ? "counters" : replay_modes;
}

Fields<StallLine> stall_fields(const model::Profile& profile) {
  Fields<StallLine> fields;
  for (Field<DiagnosisRow>& field : diagnosis_fields(profile)) {
    fields.push_back({field.name, field.unit, [cell = field.cell, name = field.name](const StallLine& row) {
                        return row.measured ? cell(*row.measured) : sampled_cell(name, row.sampled);
                      }});
    if (!field.whole_name) continue;
    fields.back().whole_name = [whole_name = field.whole_name](const StallLine& row) {
      return row.measured ? whole_name(*row.measured) : &row.sampled.kernel->long_name;
    };
  }
  append(fields, fields_of_stalls());
  fields.push_back({"Collected By", "", [](const StallLine& row) { return collected_cell(row); }});
  fields.push_back({"PC Samples", "", [](const StallLine& row) { return row.measured ? Cell{} : Cell{row.sampled.samples}; }});
  fields.push_back(
      {"Sampling Period (cycles)", "cycle",
       [period = sampling_period(profile.timeline.pc_samples)](const StallLine& row) { return row.measured ? Cell{} : period; }});
  return fields;
}

}  // namespace

Rows stall_report(const model::Profile& profile) { return make_rows("stall", stall_fields(profile), stall_lines(profile)); }

}  // namespace dlkprof::report
