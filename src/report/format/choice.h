// Which rows and columns of a report are shown, and in which order.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/format/rows.h"

namespace dlkprof::report {

// A column for people, and what stands above it: a word or two, on two lines where a line break is in it.
struct PeopleColumn {
  const char* column;  // its name in the report
  const char* heading;
};

struct Choice {
  std::vector<std::string> columns;                      // in this order; none: all
  std::string sort;                                      // by this column; empty: as the report comes
  std::optional<std::size_t> top;                        // rows; 0: all
  std::function<bool(const std::string& name)> accepts;  // names of kernels and ops; none: every row
  [[nodiscard]] bool is_asked() const { return !columns.empty() || !sort.empty() || top || accepts; }
};

// A column by its name, however it is capitalized, with or without the unit behind it: "total_gpu_time" for "Total GPU Time
// (ns)". Throws UsageError where there is none, naming the closest.
[[nodiscard]] std::size_t find_column(const Rows& rows, const std::string& name);

// The choice with names of columns in place of headings: "Total GPU Time (ns)" for "GPU time". A column that has what was asked
// for as its name goes before one that has it as its heading.
[[nodiscard]] Choice named_by_heading(Choice choice, const Rows& rows, std::span<const PeopleColumn> columns);

struct ChosenRows {
  Rows rows;
  std::size_t left_out = 0;  // rows that `top` leaves out
};

// Numbers are sorted falling, text rising, and empty cells come last. `rows` is referred to by what it is made from alone. Throws
// UsageError: no such column; `accepts` for a report that names neither kernels nor ops.
[[nodiscard]] ChosenRows choose(const Rows& rows, const Choice& choice);

}  // namespace dlkprof::report
