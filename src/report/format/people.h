// A report's rows as a table for people: few columns, with units, as wide as the page.
#pragma once

#include <span>
#include <string>

#include "report/format/choice.h"
#include "report/format/layout.h"
#include "report/format/rows.h"

namespace dlkprof::report {

inline constexpr std::size_t kRowsForPeople = 20;

// Where those of `columns` are that the rows have, with their headings.
using Positions = std::vector<std::pair<std::size_t, const char*>>;
[[nodiscard]] Positions positions(const Rows& rows, std::span<const PeopleColumn> columns);

// `columns` in their order, the most important first: as many as the page has room for, less those that are empty in all rows
// shown. A direction follows the name of its op, as on the screen. Where the choice names columns it is those, and where there is
// neither all. The first 20 rows, unless it says how many.
// What is left out is counted beneath. Throws UsageError as choose() does.
[[nodiscard]] std::string people_table(const Rows& rows, const Choice& choice, std::span<const PeopleColumn> columns,
                                       const Page& page);

// The table alone, of all rows.
[[nodiscard]] std::string people_rows(const Rows& rows, std::span<const PeopleColumn> columns, const Page& page);

// The unit of a place in memory or code, which people are shown in base 16, and never rounded.
inline constexpr const char* kAddressUnit = "address";

// A cell in three figures and a unit: "790 ms", "56.1 %", "yes".
[[nodiscard]] std::string people_text(const Cell& cell, std::string_view unit);

}  // namespace dlkprof::report
