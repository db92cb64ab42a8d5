// One list of columns per table. columns(visit, row) calls visit with the Head of the row's table and one cell per column. A cell
// names its column, unit and meaning, and refers to the member that holds its value. The CREATE statement,
// docs/reference/schema.md, the INSERT statement and reading back all follow from that call.
//
// A cell made from a value, not from a member, holds what follows from other data: it is written, but not read back.
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

#include "model/names.h"
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

// T is a reference to a member, or the type of a value. The rule says how the value is written, and how it is read from the next
// cell of a row.
template <typename T, typename Rule>
struct Cell {
  const char* name;
  ColumnType type;
  const char* unit;
  const char* meaning;
  T value;
  Rule rule;

  void describe(std::vector<Column>& to) const {
    to.push_back({name, type, std::string(Rule::kBeforeUnit) + unit, meaning, kIsOptional<std::remove_cvref_t<T>>});
  }
  [[nodiscard]] decltype(auto) written(const Place& /*place*/) const { return rule.written(std::as_const(value)); }
  void read(Rows& rows) const {
    if constexpr (std::is_lvalue_reference_v<T>) {
      rule.read(rows, value, unit);
    } else {
      rows.skip();
    }
  }
};

// Most rules write the value as it is.
struct AsItIs {
  static constexpr const char* kBeforeUnit = "";
  template <typename T>
  [[nodiscard]] const T& written(const T& value) const {
    return value;
  }
};

struct ByType : AsItIs {
  using AsItIs::written;
  [[nodiscard]] std::string written(const std::vector<std::string>& value) const {
    return fmt::format("{}", fmt::join(value, ","));
  }
  void read(Rows& rows, auto& value, const char* /*unit*/) const { rows.take(value); }
};
// A whole number, or an optional one.
template <typename T>
Cell<T, ByType> number(const char* name, T&& value, const char* unit = "", const char* meaning = "") {
  return {name, ColumnType::integer, unit, meaning, std::forward<T>(value), {}};
}
template <typename T>
Cell<T, ByType> flag(const char* name, T&& value, const char* meaning) {
  return number(name, std::forward<T>(value), "0 or 1", meaning);
}
template <typename T>
Cell<T, ByType> real(const char* name, T&& value, const char* unit = "", const char* meaning = "") {
  return {name, ColumnType::real, unit, meaning, std::forward<T>(value), {}};
}
// Text, or texts without commas, which are joined by commas.
template <typename T>
Cell<T, ByType> text(const char* name, T&& value, const char* meaning = "") {
  return {name, ColumnType::text, "", meaning, std::forward<T>(value), {}};
}
// Bytes, which copies for the page leave out: NULL there.
struct BytesOrNull : ByType {
  [[nodiscard]] std::span<const std::uint8_t> written(const std::vector<std::uint8_t>& value) const { return value; }
};
inline auto blob(const char* name, auto& value, const char* meaning) {
  using Bytes = Cell<decltype(value), BytesOrNull>;
  struct Omitted : Bytes {
    void describe(std::vector<Column>& to) const {
      Bytes::describe(to);
      to.back().nullable = true;
    }
  };
  return Omitted{Bytes{name, ColumnType::blob, "", meaning, value, {}}};
}
// A member as a value: it follows from other data.
template <typename T>
T derived(const T& value) {
  return value;
}

// The number of a row of another table, which is read before this one.
struct ById : AsItIs {
  static constexpr const char* kBeforeUnit = "id of ";
  void read(Rows& rows, std::uint32_t& value, const char* table) const { rows.take_reference(value, table); }
};
template <typename T>
Cell<T, ById> reference(const char* name, T&& value, const char* table, const char* meaning = "") {
  return {name, ColumnType::integer, table, meaning, std::forward<T>(value), {}};
}

// A whole number or an enumeration from 0 to `last`.
template <typename Enum>
struct UpTo : AsItIs {
  Enum last;
  void read(Rows& rows, Enum& value, const char* /*unit*/) const { value = rows.up_to(last); }
};
template <typename T, typename Enum = std::remove_const_t<T>>
Cell<T&, UpTo<Enum>> up_to(const char* name, T& value, Enum last, const char* meaning) {
  return {name, ColumnType::integer, "", meaning, value, {{}, last}};
}

// An enumeration that is kept as a word. `names` are in the order of its values.
template <std::size_t N>
struct ByName : AsItIs {
  const std::array<const char*, N>& names;
  template <typename Enum>
  [[nodiscard]] const char* written(Enum value) const {
    return model::name_in(names, value);
  }
  template <typename Enum>
  void read(Rows& rows, Enum& value, const char* /*unit*/) const {
    const auto found = model::value_of<Enum>(names, rows.text());
    if (!found) rows.fail("a name of it is not known");
    value = *found;
  }
};
template <typename T, std::size_t N>
Cell<T&, ByName<N>> word(const char* name, T& value, const std::array<const char*, N>& names, const char* meaning) {
  return {name, ColumnType::text, "", meaning, value, {{}, names}};
}

// A time that is not before `least`; without that, not before the time of the row before.
struct NotBefore : AsItIs {
  const std::int64_t* least;
  void read(Rows& rows, std::int64_t& value, const char* /*unit*/) const {
    value = least == nullptr ? rows.time_in_order() : rows.time(*least);
  }
};
template <typename T>
Cell<T&, NotBefore> time_cell(const char* name, T& value, const std::int64_t* least, const char* meaning) {
  return {name, ColumnType::integer, "ns", meaning, value, {{}, least}};
}
auto time_in_order(const char* name, auto& value, const char* meaning = "") { return time_cell(name, value, nullptr, meaning); }
auto time_from(const std::int64_t& least, const char* name, auto& value, const char* meaning = "") {
  return time_cell(name, value, &least, meaning);
}
auto any_time(const char* name, auto& value, const char* meaning = "") { return time_cell(name, value, &kEarliestTime, meaning); }

// NULL in place of a value that stands for none.
template <typename Inner, typename None>
struct Nullable {
  Inner inner;
  None none;

  void describe(std::vector<Column>& to) const {
    inner.describe(to);
    to.back().nullable = true;
  }
  [[nodiscard]] auto written(const Place& /*place*/) const {
    return inner.value == none ? std::nullopt : std::optional(inner.value);
  }
  void read(Rows& rows) const {
    inner.value = none;
    if (!rows.null()) inner.read(rows);
  }
};
template <typename Inner, typename None = std::uint32_t>
Nullable<Inner, None> nullable(Inner inner, None none = model::kNone) {
  return {std::move(inner), none};
}

// A number of the row's Place.
struct PlaceCell {
  const char* name;
  const char* unit;
  const char* meaning;
  std::uint64_t Place::*number;

  void describe(std::vector<Column>& to) const { to.push_back({name, ColumnType::integer, unit, meaning}); }
  [[nodiscard]] std::uint64_t written(const Place& place) const { return place.*number; }
  void read(Rows& rows) const { number == &Place::row ? rows.id() : rows.skip(); }
};
inline PlaceCell row_id(const char* meaning) { return {"id", "", meaning, &Place::row}; }
inline PlaceCell rank(const char* meaning) { return {"rank", "", meaning, &Place::row}; }
inline PlaceCell own_aggregation(const char* meaning) { return {"id", "", meaning, &Place::aggregation}; }
inline PlaceCell aggregation() { return {"aggregation", "id of aggregation", "", &Place::aggregation}; }

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
  [[nodiscard]] auto written(const Place& place) const {
    return std::apply([&place](const auto&... one) { return std::tuple_cat(written_by(one, place)...); }, cells);
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
auto written_by(const AnyCell& cell, const Place& place) {
  return as_tuple(cell.written(place));
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
void with_values(const Row& row, const Place& place, const Take& take) {
  const auto visit = [&place, &take](const Head& /*head*/, const auto&... cells) {
    std::apply(take, std::tuple_cat(written_by(cells, place)...));
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
