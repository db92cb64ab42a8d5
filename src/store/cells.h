// One list of columns per table. columns(visit, row) calls visit with the Head of the row's table and one cell per column, which
// names the column, its unit and its meaning, and refers to the member that holds its value. The CREATE statement,
// docs/schema.md, the INSERT statement and reading back all follow from that call.
//
// A cell has three functions: describe() appends its columns, cell() gives what is written, and read() sets the member from the
// next cell of a row. A cell made from a value, not from a member, holds what follows from other data: it is written, not read.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/names.h"
#include "store/rows.h"
#include "store/schema.h"

namespace dlkprof::store {

// A row that is const while it is written, and not while it is read.
template <typename T, typename Row>
concept Of = std::same_as<std::remove_const_t<T>, Row>;

struct Head {
  const char* name;
  const char* meaning;
  std::size_t keys = 1;  // as Table::keys
};

// What a row is written with besides its members.
struct Place {
  std::uint64_t aggregation = 0;  // its id
  std::uint64_t row = 0;          // from 0
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// The common case. T is a reference to a member, or the type of a value.
template <typename T>
struct Cell {
  const char* name;
  ColumnType type;
  const char* unit;
  const char* meaning;
  T value;

  void describe(std::vector<Column>& to) const { to.push_back({name, type, unit, meaning, kIsOptional<std::remove_cvref_t<T>>}); }
  [[nodiscard]] decltype(auto) cell(const Place& /*place*/) const {
    if constexpr (std::same_as<std::remove_cvref_t<T>, std::vector<std::string>>) {
      return fmt::format("{}", fmt::join(value, ","));
    } else {
      return std::as_const(value);
    }
  }
  void read(Rows& rows) const {
    if constexpr (std::is_lvalue_reference_v<T>) {
      rows.take(value);
    } else {
      rows.skip();
    }
  }
};

template <typename T>
inline constexpr bool kIsPlain = false;
template <typename T>
inline constexpr bool kIsPlain<Cell<T>> = true;

// A whole number, or an optional one.
template <typename T>
Cell<T> number(const char* name, T&& value, const char* unit, const char* meaning) {
  return {name, ColumnType::integer, unit, meaning, std::forward<T>(value)};
}
template <typename T>
Cell<T> real(const char* name, T&& value, const char* unit, const char* meaning) {
  return {name, ColumnType::real, unit, meaning, std::forward<T>(value)};
}
// Text, or texts without commas, which are joined by commas.
template <typename T>
Cell<T> text(const char* name, T&& value, const char* meaning) {
  return {name, ColumnType::text, "", meaning, std::forward<T>(value)};
}
// What follows from other data, where it stands in a member.
template <typename T>
T derived(const T& value) {
  return value;
}
template <typename T>
Cell<T> flag(const char* name, T&& value, const char* meaning) {
  return number(name, std::forward<T>(value), "0 or 1", meaning);
}

// A number of the row's Place.
struct PlaceCell {
  const char* name;
  const char* of;  // the table that it names a row of; none: ""
  const char* meaning;
  std::uint64_t Place::*number;

  void describe(std::vector<Column>& to) const {
    to.push_back({name, ColumnType::integer, *of == '\0' ? "" : std::string("id of ") + of, meaning});
  }
  [[nodiscard]] std::uint64_t cell(const Place& place) const { return place.*number; }
  void read(Rows& rows) const { number == &Place::row ? rows.id() : rows.skip(); }
};
inline PlaceCell row_id(const char* meaning) { return {"id", "", meaning, &Place::row}; }
inline PlaceCell rank(const char* meaning) { return {"rank", "", meaning, &Place::row}; }
inline PlaceCell own_aggregation(const char* meaning) { return {"id", "", meaning, &Place::aggregation}; }
inline PlaceCell aggregation() { return {"aggregation", "aggregation", "", &Place::aggregation}; }
// For tables that have one row for each row of another table.
inline PlaceCell row_of(const char* table) { return {table, table, "", &Place::row}; }

// The number of a row of another table, which is read before this one.
template <typename T>
struct Reference {
  const char* name;
  T value;
  const char* table;
  const char* meaning;

  void describe(std::vector<Column>& to) const {
    to.push_back({name, ColumnType::integer, std::string("id of ") + table, meaning, kIsOptional<std::remove_cvref_t<T>>});
  }
  [[nodiscard]] const auto& cell(const Place& /*place*/) const { return value; }
  void read(Rows& rows) const {
    if constexpr (std::is_lvalue_reference_v<T>) {
      rows.take_reference(value, table);
    } else {
      rows.skip();
    }
  }
};
template <typename T>
Reference<T> reference(const char* name, T&& value, const char* table, const char* meaning) {
  return {name, std::forward<T>(value), table, meaning};
}

// NULL in place of a value that stands for none.
template <typename Inner, typename None>
struct Nullable {
  Inner inner;
  None none;

  void describe(std::vector<Column>& to) const {
    inner.describe(to);
    to.back().nullable = true;
  }
  [[nodiscard]] auto cell(const Place& /*place*/) const {
    return inner.value == none ? std::nullopt : std::optional(inner.value);
  }
  void read(Rows& rows) const {
    inner.value = none;
    if (rows.null()) return;
    inner.read(rows);
    if (kIsPlain<Inner> && inner.value == none) rows.fail(fmt::format("{} is {}, not NULL", inner.name, none));
  }
};
template <typename Inner, typename None = std::uint32_t>
Nullable<Inner, None> nullable(Inner inner, None none = model::kNone) {
  return {std::move(inner), none};
}

// An enumeration that is kept as a number.
template <typename Enum>
struct Enumeration {
  const char* name;
  Enum& value;
  std::remove_const_t<Enum> last;
  const char* meaning;

  void describe(std::vector<Column>& to) const { to.push_back({name, ColumnType::integer, "", meaning}); }
  [[nodiscard]] Enum cell(const Place& /*place*/) const { return value; }
  void read(Rows& rows) const { value = rows.enumeration(last); }
};
template <typename Enum>
Enumeration<Enum> enumeration(const char* name, Enum& value, std::remove_const_t<Enum> last, const char* meaning) {
  return {name, value, last, meaning};
}

// An enumeration that is kept as a word. `names` are in the order of its values.
template <typename Enum, std::size_t N>
struct Word {
  const char* name;
  Enum& value;
  const std::array<const char*, N>& names;
  const char* meaning;

  void describe(std::vector<Column>& to) const { to.push_back({name, ColumnType::text, "", meaning}); }
  [[nodiscard]] const char* cell(const Place& /*place*/) const { return names.at(static_cast<std::size_t>(value)); }
  void read(Rows& rows) const {
    const auto found = value_of<Enum>(names, rows.text());
    if (!found) rows.fail("a name of it is not known");
    value = *found;
  }
};
template <typename Enum, std::size_t N>
Word<Enum, N> word(const char* name, Enum& value, const std::array<const char*, N>& names, const char* meaning) {
  return {name, value, names, meaning};
}

// A time in ns that is not before `least`; without that, not before the time of the row before.
template <typename T>
struct TimeCell {
  const char* name;
  T& value;
  const std::int64_t* least;
  const char* meaning;

  void describe(std::vector<Column>& to) const { to.push_back({name, ColumnType::integer, "ns", meaning}); }
  [[nodiscard]] std::int64_t cell(const Place& /*place*/) const { return value; }
  void read(Rows& rows) const { value = least == nullptr ? rows.time_in_order() : rows.time(*least); }
};
template <typename T>
TimeCell<T> time_in_order(const char* name, T& value, const char* meaning) {
  return {name, value, nullptr, meaning};
}
template <typename T>
TimeCell<T> time_from(const std::int64_t& least, const char* name, T& value, const char* meaning) {
  return {name, value, &least, meaning};
}
template <typename T>
TimeCell<T> any_time(const char* name, T& value, const char* meaning) {
  return {name, value, &kEarliestTime, meaning};
}

// Several cells whose columns have a common prefix.
template <typename... Cells>
struct Group {
  const char* prefix;
  std::tuple<Cells...> cells;

  void describe(std::vector<Column>& to) const {
    const std::size_t first = to.size();
    std::apply([&to](const auto&... one) { (one.describe(to), ...); }, cells);
    for (std::size_t i = first; i < to.size(); ++i) to[i].name.insert(0, prefix);
  }
  [[nodiscard]] auto cell(const Place& place) const {
    return std::apply([&place](const auto&... one) { return std::tuple_cat(cells_of(one, place)...); }, cells);
  }
  void read(Rows& rows) const {
    std::apply([&rows](const auto&... one) { (one.read(rows), ...); }, cells);
  }
};
template <typename... Cells>
Group<Cells...> group(const char* prefix, Cells... cells) {
  return {prefix, {std::move(cells)...}};
}

template <typename... Values>
std::tuple<Values...> as_tuple(std::tuple<Values...>&& values) {
  return std::move(values);
}
template <typename Value>
std::tuple<Value> as_tuple(Value&& value) {
  return std::tuple<Value>(std::forward<Value>(value));
}
// What a cell writes: one value, or those of a Group.
template <typename AnyCell>
auto cells_of(const AnyCell& cell, const Place& place) {
  return as_tuple(cell.cell(place));
}

template <typename Row>
[[nodiscard]] const Table& table_of() {
  static const Table made = [] {
    Table table;
    const Row row{};
    const auto describe = [&table](const Head& head, const auto&... cells) {
      table = {head.name, head.meaning, {}, head.keys};
      (cells.describe(table.columns), ...);
    };
    columns(describe, row);
    return table;
  }();
  return made;
}

// Calls `take` with the values of all columns.
template <typename Row, typename Take>
void with_cells(const Row& row, const Place& place, const Take& take) {
  const auto visit = [&place, &take](const Head& /*head*/, const auto&... cells) {
    std::apply(take, std::tuple_cat(cells_of(cells, place)...));
  };
  columns(visit, row);
}

// Sets what the next row of a table holds; false after the last one.
template <typename Row>
[[nodiscard]] bool next(Rows& rows, Row& row) {
  if (!rows.next()) return false;
  const auto visit = [&rows](const Head& /*head*/, const auto&... cells) { (cells.read(rows), ...); };
  columns(visit, row);
  return true;
}

}  // namespace dlkprof::store
