// The door to SQLite: connections, statements and transactions as values that close themselves. Failures are thrown as Error,
// with SQLite's own words. One thread at a time may use a connection and its statements.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/unique_handle.h"

struct sqlite3;
struct sqlite3_stmt;

namespace dlkprof::store {

void close_connection(sqlite3* connection) noexcept;
void close_statement(sqlite3_stmt* statement) noexcept;

enum class CellType : std::uint8_t { null, integer, real, text, blob };

// A cell of a column of integers. SQLite's are signed: what is beyond them becomes the largest.
template <typename T>
  requires std::integral<T> || std::is_enum_v<T>
[[nodiscard]] constexpr std::int64_t integer_cell(T value) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
  } else {
    return static_cast<std::int64_t>(value);
  }
}
template <typename T>
[[nodiscard]] constexpr std::optional<std::int64_t> integer_cell(const std::optional<T>& value) {
  return value ? std::optional(integer_cell(*value)) : std::nullopt;
}

class Statement {
 public:
  // The first statement in `sql`; `rest` becomes what follows it.
  Statement(sqlite3* connection, std::string_view sql, std::string_view* rest = nullptr);

  // Binds a value to each parameter, in their order, and runs the statement. Text is kept as valid UTF-8; NaN becomes NULL.
  template <typename... Values>
  void run(const Values&... values) {
    int parameter = 0;
    (bind(++parameter, values), ...);
    finish(parameter);
  }

  // The same with values in an array, none being NULL.
  void run_integers(std::span<const std::optional<std::int64_t>> values) {
    int parameter = 0;
    for (const std::optional<std::int64_t>& value : values) bind(++parameter, value);
    finish(parameter);
  }

  // The same with the row that another statement has stepped to: a parameter a column.
  void run_row(const Statement& row);

  // One parameter, from 1: for step(), where run() binds all.
  template <typename Value>
  void bind_parameter(int parameter, const Value& value) {
    bind(parameter, value);
  }

  // To the next row of the result; false after the last one.
  [[nodiscard]] bool step();
  // To before the first row, for other parameters.
  void reset() noexcept;

  // Of the row that step() went to. Text lives until the next step.
  [[nodiscard]] int columns() const noexcept;  // 0: it gives none, or there is no statement at all
  [[nodiscard]] std::string_view column_name(int column) const;
  [[nodiscard]] CellType type(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] double real(int column) const noexcept;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const std::uint8_t> blob(int column) const;

 private:
  template <typename T>
    requires std::integral<T> || std::is_enum_v<T>
  void bind(int parameter, T value) {
    bind_integer(parameter, integer_cell(value));
  }
  template <typename T>
  void bind(int parameter, const std::optional<T>& value) {
    value ? bind(parameter, *value) : bind_null(parameter);
  }
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view value);
  void bind(int parameter, const std::string& value) { bind(parameter, std::string_view(value)); }
  void bind(int parameter, const char* value) { bind(parameter, std::string_view(value)); }
  void bind(int parameter, std::span<const std::uint8_t> value);
  void bind_integer(int parameter, std::int64_t value);
  void bind_null(int parameter);
  void finish(int parameters);

  UniqueHandle<sqlite3_stmt*, close_statement> statement_;
};

enum class Access : std::uint8_t {
  read,   // a file that may be hostile
  add,    // the same, changed in transactions that happen wholly or not at all
  build,  // an empty file of our own that nobody looks at before it is whole: no journal, nothing flushed
  ask,    // a file of our own, for the questions of somebody else: see answer_only()
};

class Connection {
 public:
  // The file must exist, and be a regular one: opening a pipe would wait.
  Connection(const std::filesystem::path& path, Access access);

  void run(std::string_view sql);
  [[nodiscard]] Statement prepare(std::string_view sql, std::string_view* rest = nullptr) const {
    return {connection_.get(), sql, rest};
  }
  // The first column of the only row; 0 where that is no number.
  [[nodiscard]] std::int64_t number(std::string_view sql) const;
  // Calls `act` now and then while statements run: some times a second. It must neither use the connection nor throw.
  void now_and_then(std::function<void()> act);
  // The same, with statements ended as an error once `stop` says so.
  void stop_when(std::function<bool()> stop);
  // From here on only SELECT is done, and views run: nothing is written, attached or set, whatever a statement says. For
  // databases whose views are known to be ours.
  void answer_only();
  // No text or blob longer than this is read.
  void limit_length(std::int64_t bytes);

 private:
  std::unique_ptr<std::function<bool()>> stop_;  // stays in its place when the connection moves
  UniqueHandle<sqlite3*, close_connection> connection_;
};

// Undone when it ends without commit().
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(&connection) { connection.run("BEGIN IMMEDIATE"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Connection* connection_;
};

}  // namespace dlkprof::store
