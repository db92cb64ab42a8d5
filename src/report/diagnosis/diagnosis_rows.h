// Rows of the reports that diagnose: each op, and after it its kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "report/ops/fields.h"

namespace dlkprof::report {

struct DiagnosisRow {
  const model::OpRow* op = nullptr;
  const model::KernelRow* kernel = nullptr;  // none: the row is the op's own
  [[nodiscard]] const model::Counters& counters() const { return kernel != nullptr ? kernel->counters : op->counters; }
  [[nodiscard]] const model::Stats& gpu() const { return kernel != nullptr ? kernel->gpu : op->gpu; }
};

enum class DiagnosisOf : std::uint8_t { all, measured };

// By GPU time, falling: ops, and the kernels of each. Of `measured` those alone of which a launch was measured.
[[nodiscard]] std::vector<DiagnosisRow> diagnosis_rows(const model::Profile& profile, DiagnosisOf which);

// What names a row: Level, Op ID, Op Name, (Direction,) Op Type, Kernel Name, Total GPU Time; then how much of it was measured.
[[nodiscard]] Fields<DiagnosisRow> diagnosis_fields(const model::Profile& profile);

}  // namespace dlkprof::report
