// The comparison of runs as data: a table of the runs, of their ops beside those of the first, of kernels within ops, and of
// findings in words.
#pragma once

#include <string>
#include <vector>

#include "advise/compare/compare_runs.h"
#include "report/format/table.h"
#include "report/ops/fields.h"

namespace dlkprof::report {

// "faster", "slower", "no change", "untested".
[[nodiscard]] const char* verdict(advise::ChangeVerdict verdict);
// "fixed cost", "sublinear", "linear", "superlinear"; empty where it is not known.
[[nodiscard]] const char* scaling(advise::Scaling scaling);

// A column for each figure of a run.
[[nodiscard]] const Fields<advise::RunFigures>& run_fields();

// Named runs, ops, kernels and findings.
[[nodiscard]] std::vector<Table> compare_tables(const advise::ComparedRuns& compared);

// {"report": "compare", "tables": {<name>: {"units": {<column>: <unit>}, "rows": [{<column>: <cell>}]}}}
[[nodiscard]] std::string compare_json(const std::vector<Table>& tables);
[[nodiscard]] std::string compare_json(const advise::ComparedRuns& compared);
// One table with the columns of all, each once, after a first one that names the table of a row.
[[nodiscard]] std::string compare_csv(const std::vector<Table>& tables);
[[nodiscard]] std::string compare_csv(const advise::ComparedRuns& compared);

}  // namespace dlkprof::report
