// A report whose rows are made while they are written: those with a row a kernel call have millions, which are never held at
// once.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/format/table.h"

namespace dlkprof::report {

// Takes what is written, piece by piece.
using Sink = std::function<void(std::string_view)>;

struct Rows {
  std::string name;  // of the report
  std::vector<Column> columns;
  std::size_t count = 0;
  // Sets `cells`, one a column, to those of a row. Refers to what the report is made from.
  std::function<void(std::size_t row, std::vector<Cell>& cells)> fill;
  // A column that names kernels, and their names in C++, from which people are told what tells them apart (telling_name.h): of a
  // row, or null. None: names are shown as they are.
  struct Kernels {
    std::size_t column = 0;
    std::function<const std::string*(std::size_t row)> whole_name;
  };
  std::optional<Kernels> kernels;
};

// The rows of a table that outlives them.
[[nodiscard]] Rows rows_of(const Table& table);

// All rows at once, for a terminal.
[[nodiscard]] Table to_table(const Rows& rows);

// Collects small pieces for a sink, which may be a file. What is left goes out with finish().
class Buffer {
 public:
  explicit Buffer(const Sink& sink) : sink_(sink) {}
  // Append to this, and call drain() now and then.
  std::string text;
  void drain() {
    if (text.size() >= kEnough) finish();
  }
  void finish() {
    sink_(text);
    text.clear();
  }

 private:
  static constexpr std::size_t kEnough = std::size_t{1} << 16U;
  const Sink& sink_;
};

}  // namespace dlkprof::report
