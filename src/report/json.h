// A table as JSON:
//   {"report": <name>, "units": {<column>: <unit>, ...}, "rows": [{<column>: <cell>, ...}, ...]}
// Columns whose unit is not known are left out of "units"; empty cells are null.
#pragma once

#include <string>

#include "report/table.h"

namespace dlkprof::report {

[[nodiscard]] std::string to_json(const Table& table);

}  // namespace dlkprof::report
