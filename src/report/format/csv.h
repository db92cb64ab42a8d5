// A table as comma-separated values: RFC 4180, UTF-8, a heading line, lines that end in CR LF.
#pragma once

#include <string>

#include "report/format/rows.h"
#include "report/format/table.h"

namespace dlkprof::report {

// Cells hold their text unchanged, but for control characters and invalid UTF-8, which become U+FFFD. Text that a
// spreadsheet would take for a formula is not altered: names must read back as they are.
void write_csv(const Rows& rows, const Sink& sink);
[[nodiscard]] std::string to_csv(const Table& table);

}  // namespace dlkprof::report
