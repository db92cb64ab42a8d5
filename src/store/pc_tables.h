// PC sampling in the database: its tables, how they are filled, and how they are read back.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/timeline/pc_samples.h"
#include "store/open.h"
#include "store/rows.h"
#include "store/schema.h"

namespace dlkprof::store {

[[nodiscard]] std::vector<Table> pc_tables();

void insert_pc_samples(const Connection& connection, const model::PcSamples& samples);

// Reads what anybody may have written; throws Error as read_timeline() does.
class PcReader {
 public:
  PcReader(const OpenDatabase& database, TextBudget& budget) : database_(database), budget_(budget) {}
  // `kernels` and `processes`: how many there are to be named.
  [[nodiscard]] model::PcSamples read(std::size_t kernels, std::size_t processes);

 private:
  [[nodiscard]] Rows rows(std::string_view table) { return {database_, budget_, table}; }
  void instructions();
  void stalls();
  void totals(std::size_t processes);

  const OpenDatabase& database_;
  TextBudget& budget_;
  model::PcSamples samples_;
};

}  // namespace dlkprof::store
