// The report `summary`: several small tables (guide, 10.2), and how much of the program was measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/timeline/timeline.h"
#include "report/format/layout.h"
#include "report/ops/fields.h"

namespace dlkprof::report {

struct SummaryRow {
  std::string name;  // as the guide names it
  std::string unit;  // of a single value; columns have their own
  std::vector<Cell> cells;
};

struct SummaryTable {
  std::string name;
  std::vector<Column> columns;  // a table of single values has none, and one cell a row
  std::vector<SummaryRow> rows;
};

struct SummaryInputs {
  std::string profile_name;
  bool coverage = true;  // false: it is told elsewhere
};

[[nodiscard]] std::vector<SummaryTable> summary_tables(const model::Profile& profile, const SummaryInputs& inputs);

// What is given where nothing is known of ops (guide, 3.1): wall clock, GPU time and tensor-core time.
[[nodiscard]] std::vector<SummaryTable> simple_summary_tables(const model::Profile& profile);

// For csv: all tables in one, with the columns Table, Row Name, Value, Unit, GPU Time (ns), CPU Time (ns), # Ops, # Kernels,
// and where iterations are of several kinds those of their table; what a table does not have is empty.
[[nodiscard]] Table flatten(const std::vector<SummaryTable>& tables);

// {"report": "summary", "units": {<row or column>: <unit>, ...},
//  "tables": {<table>: {<row>: <value>, ...}, <table with columns>: {<row>: {<column>: <value>, ...}, ...}}}
[[nodiscard]] std::string summary_json(const std::vector<SummaryTable>& tables);

// For people: a table after the other, each under its name.
[[nodiscard]] std::string summary_text(const std::vector<SummaryTable>& tables, const Page& page = {});

// The system that was profiled: the rows of the guide's table (10.2) in its order. Empty where the captures do not say.
[[nodiscard]] std::vector<std::pair<std::string, Cell>> system_config(const model::Timeline& timeline,
                                                                      const std::string& profile_name);

}  // namespace dlkprof::report
