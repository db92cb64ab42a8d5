// The columns of each report that a terminal shows.
#pragma once

#include <span>
#include <string_view>

#include "report/format/people.h"

namespace dlkprof::report {

// The most important first. None for a report that has no such list: all of its columns are shown.
[[nodiscard]] std::span<const PeopleColumn> people_columns(std::string_view report);

}  // namespace dlkprof::report
