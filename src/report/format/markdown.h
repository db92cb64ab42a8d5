// Tables and text as Markdown.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/format/choice.h"
#include "report/format/people.h"

namespace dlkprof::report {

// Printable, on one line, and with what Markdown or HTML would take for its own escaped.
[[nodiscard]] std::string in_markdown(std::string_view text);

// A table of the columns for people, or of those that the choice names, in full and with units. The first 20 rows, unless the
// choice says how many; what is left out is said beneath.
[[nodiscard]] std::string markdown_table(const Rows& rows, const Choice& choice, std::span<const PeopleColumn> columns);

}  // namespace dlkprof::report
