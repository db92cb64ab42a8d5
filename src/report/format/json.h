// A table as JSON:
//   {"report": <name>, "units": {<column>: <unit>, ...}, "rows": [{<column>: <cell>, ...}, ...]}
// with a row a line. Columns whose unit is not known are left out of "units"; empty cells are null.
#pragma once

#include <string>
#include <string_view>

#include "report/format/rows.h"
#include "report/format/table.h"

namespace dlkprof::report {

void write_json(const Rows& rows, const Sink& sink);
[[nodiscard]] std::string to_json(const Table& table);

// The pieces that JSON documents are made of, appended to `out`. Invalid UTF-8 becomes U+FFFD, and what is no finite number
// null.
void add_json_text(std::string& out, std::string_view text);
void add_json(std::string& out, const Cell& cell);

}  // namespace dlkprof::report
