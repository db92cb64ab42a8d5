#include "report/diagnosis/reports.h"

#include <array>
#include <string>
#include <string_view>

#include "advise/quantities.h"
#include "advise/tensor_sizes.h"
#include "report/diagnosis/diagnosis_rows.h"
#include "report/ops/counter_fields.h"

namespace dlkprof::report {
namespace {

using Measure = advise::Quantity;

struct Figure {
  const char* column;
  const char* unit;
  Measure quantity;
};
constexpr std::array kFigures{
    Figure{"DRAM Bytes", "byte", Measure::dram_bytes},
    Figure{"DRAM Bytes Read", "byte", Measure::dram_read},
    Figure{"DRAM Bytes Written", "byte", Measure::dram_written},
    Figure{"DRAM Rate (byte/s)", "byte/s", Measure::dram_rate},
    Figure{"DRAM Of Peak (%)", "%", Measure::dram_throughput},
    Figure{"L2 Bytes", "byte", Measure::l2_bytes},
    Figure{"L2 Rate (byte/s)", "byte/s", Measure::l2_rate},
    Figure{"L2 Hit Rate (%)", "%", Measure::l2_hit_rate},
    Figure{"L2 Of Peak (%)", "%", Measure::l2_throughput},
    Figure{"L1 Bytes", "byte", Measure::l1_bytes},
    Figure{"L1 Rate (byte/s)", "byte/s", Measure::l1_rate},
    Figure{"L1 Hit Rate (%)", "%", Measure::l1_hit_rate},
    Figure{"L1 Of Peak (%)", "%", Measure::l1_throughput},
    Figure{"Sectors Per Load Request", "sector", Measure::sectors_per_load},
    Figure{"Sectors Per Store Request", "sector", Measure::sectors_per_store},
    Figure{"Local Memory Bytes Loaded", "byte", Measure::local_loaded},
    Figure{"Local Memory Bytes Stored", "byte", Measure::local_stored},
    Figure{"Shared Memory Wavefronts", "", Measure::shared_wavefronts},
    Figure{"Shared Memory Bank Conflicts", "", Measure::bank_conflicts},
    Figure{"Memory Throughput (%)", "%", Measure::memory_throughput},
};

// Counts grow with the launches of a row, so that they are scaled to all of them.
bool is_scaled(const Figure& figure) {
  const std::string_view name = advise::quantity_source(figure.quantity).alternatives.front().front();
  return name.ends_with(".sum");
}

// Of an op all of whose GPU time was measured: what its calls would read of DRAM, were each input read once. Outputs are not
// known, and every call is taken to have the inputs of the first.
std::optional<double> expected_bytes(const model::Profile& profile, const DiagnosisRow& row) {
  const bool whole = row.kernel == nullptr && row.counters().covered_ns > 0 && row.counters().covered_ns >= row.gpu().total;
  if (!whole || row.op->cpu.n == 0) return std::nullopt;
  const auto bytes = advise::input_bytes(profile.fold.ops[row.op->op]);
  return bytes ? std::optional(*bytes * static_cast<double>(row.op->cpu.n)) : std::nullopt;
}

std::optional<double> waste(const model::Profile& profile, const DiagnosisRow& row) {
  const auto expected = expected_bytes(profile, row);
  const auto read = find(row.counters().values, Measure::dram_read);
  return expected && read ? std::optional(*read / *expected) : std::nullopt;
}

}  // namespace

Rows memory_report(const model::Profile& profile) {
  Fields<DiagnosisRow> fields = diagnosis_fields(profile);
  for (const Figure& figure : kFigures) {
    fields.push_back({figure.column, figure.unit, [quantity = figure.quantity](const DiagnosisRow& row) {
                        return number_cell(find(row.counters().values, quantity));
                      }});
  }
  fields.push_back(
      {"Input Bytes", "byte", [&profile](const DiagnosisRow& row) { return number_cell(expected_bytes(profile, row)); }});
  fields.push_back(
      {"DRAM Read Per Input Byte", "", [&profile](const DiagnosisRow& row) { return number_cell(waste(profile, row)); }});
  for (const Figure& figure : kFigures) {
    if (!is_scaled(figure)) continue;
    fields.push_back({std::string(figure.column) + " Measured", figure.unit,
                      [quantity = figure.quantity](const DiagnosisRow& row) { return measured_sum(row.counters(), quantity); }});
  }
  append(fields, scaling_fields(), &DiagnosisRow::counters);
  return make_rows("memory", std::move(fields), diagnosis_rows(profile, DiagnosisOf::measured));
}

}  // namespace dlkprof::report
