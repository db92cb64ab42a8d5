#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::store {
namespace {

constexpr int kBusyMilliseconds = 5000;
constexpr int kLongestStatement = 1 << 20;  // bytes; of the schema of a hostile file, too

const char* remedy_for(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return "Free space there, or choose another place.";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "Choose a place that you may write to, or change its permissions.";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "Another program is using it: try again when that has ended.";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:  // rows that others name are not there
    case SQLITE_ERROR:       // the schema does not hold what it should
      return "The file is damaged: make it again from the captures.";
    default:
      return "";
  }
}

[[noreturn]] void fail(sqlite3* connection, const char* call) {
  const int code = sqlite3_extended_errcode(connection);
  const int system = sqlite3_system_errno(connection);
  const char* path = sqlite3_db_filename(connection, "main");
  const bool reading = sqlite3_db_readonly(connection, "main") == 1;
  std::string words = fmt::format("{}: {}", call, printable(sqlite3_errmsg(connection), 400));
  const bool of_file = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_FULL;
  if (of_file && system != 0) words += fmt::format(" ({})", std::generic_category().message(system));
  throw Error(fmt::format("cannot {} the database {}", reading ? "read" : "write", printable(path == nullptr ? "" : path)), words,
              remedy_for(code));
}

void check(int code, sqlite3* connection, const char* call) {
  if (code != SQLITE_OK) fail(connection, call);
}

// Nothing that a file's schema brings along is run: no triggers, no views, no functions with effects.
void distrust(sqlite3* connection) {
  constexpr std::array kSettings = {
      std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},      std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      std::pair{SQLITE_DBCONFIG_DQS_DDL, 0},        std::pair{SQLITE_DBCONFIG_DQS_DML, 0},
  };
  for (const auto& [setting, value] : kSettings)
    check(sqlite3_db_config(connection, setting, value, nullptr), connection, "sqlite3_db_config");
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, kLongestStatement);
  sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, 100);
  sqlite3_limit(connection, SQLITE_LIMIT_COLUMN, 200);
  sqlite3_limit(connection, SQLITE_LIMIT_COMPOUND_SELECT, 20);
}

int flags_of(Access access) {
  constexpr int kCommon = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (access == Access::read || access == Access::ask) return kCommon | SQLITE_OPEN_READONLY;
  if (access == Access::add) return kCommon | SQLITE_OPEN_READWRITE;
  return kCommon | SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
}

}  // namespace

void close_connection(sqlite3* connection) noexcept { sqlite3_close_v2(connection); }
void close_statement(sqlite3_stmt* statement) noexcept { sqlite3_finalize(statement); }

Statement::Statement(sqlite3* connection, std::string_view sql, std::string_view* rest) {
  sqlite3_stmt* statement = nullptr;
  const char* end = nullptr;
  check(sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &statement, &end), connection,
        "sqlite3_prepare_v2");
  statement_.reset(statement);
  if (rest != nullptr) *rest = sql.substr(static_cast<std::size_t>(end - sql.data()));
  if (statement == nullptr) throw Error("there is no SQL statement", "", "Type one: SELECT * FROM summary");
}

void Statement::bind_integer(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }
void Statement::bind_null(int parameter) { sqlite3_bind_null(statement_.get(), parameter); }
void Statement::bind(int parameter, double value) { sqlite3_bind_double(statement_.get(), parameter, value); }
void Statement::bind(int parameter, std::string_view value) {
  const bool ascii = is_ascii(value);  // lives until the statement has run, and so needs no copy
  const std::string clean = ascii ? std::string() : valid_utf8(value);
  const std::string_view text = ascii ? value : clean;
  // Never null, which would bind NULL.
  check(sqlite3_bind_text64(statement_.get(), parameter, text.empty() ? "" : text.data(), text.size(),
                            ascii ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8),
        sqlite3_db_handle(statement_.get()), "sqlite3_bind_text64");
}

void Statement::bind(int parameter, std::span<const std::uint8_t> value) {
  check(sqlite3_bind_blob64(statement_.get(), parameter, value.data(), value.size(), SQLITE_STATIC),
        sqlite3_db_handle(statement_.get()), "sqlite3_bind_blob64");
}

void Statement::finish(int parameters) {
  sqlite3_stmt* statement = statement_.get();
  if (parameters != sqlite3_bind_parameter_count(statement)) throw std::logic_error("parameters of an SQL statement");
  const int code = sqlite3_step(statement);
  if (code != SQLITE_DONE && code != SQLITE_ROW) fail(sqlite3_db_handle(statement), "sqlite3_step");
  sqlite3_reset(statement);
}

void Statement::run_row(const Statement& row) {
  const int columns = row.columns();
  for (int column = 0; column < columns; ++column) {
    switch (row.type(column)) {
      case CellType::integer:
        bind_integer(column + 1, row.integer(column));
        break;
      case CellType::real:
        bind(column + 1, row.real(column));
        break;
      case CellType::text:
        bind(column + 1, row.text(column));
        break;
      default:
        bind_null(column + 1);
    }
  }
  finish(columns);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(sqlite3_db_handle(statement_.get()), "sqlite3_step");
  return false;
}

void Statement::reset() noexcept { sqlite3_reset(statement_.get()); }

int Statement::columns() const noexcept { return sqlite3_column_count(statement_.get()); }

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? "" : name;
}

CellType Statement::type(int column) const noexcept {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return CellType::integer;
    case SQLITE_FLOAT:
      return CellType::real;
    case SQLITE_TEXT:
      return CellType::text;
    case SQLITE_BLOB:
      return CellType::blob;
    default:
      return CellType::null;
  }
}

std::int64_t Statement::integer(int column) const noexcept { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const noexcept { return sqlite3_column_double(statement_.get(), column); }
std::string_view Statement::text(int column) const {
  // In this order: the text first, since asking for it may change how long it is.
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text), bytes);
}

std::span<const std::uint8_t> Statement::blob(int column) const {
  // In this order, as for text.
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const std::uint8_t*>(bytes), static_cast<std::size_t>(size)};
}

Connection::Connection(const std::filesystem::path& path, Access access) {
  // Absolute: SQLite gives "file:..." and ":memory:" meanings of their own.
  const std::string name = std::filesystem::absolute(path).native();
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags_of(access), nullptr);
  connection_.reset(connection);
  if (connection == nullptr) throw std::bad_alloc();
  check(code, connection, "sqlite3_open_v2");
  sqlite3_busy_timeout(connection, kBusyMilliseconds);
  if (access == Access::read || access == Access::add) distrust(connection);
  run("PRAGMA cell_size_check=ON");
  if (access == Access::read || access == Access::ask) run("PRAGMA query_only=ON");
  if (access == Access::build) {
    run("PRAGMA journal_mode=OFF");
    run("PRAGMA synchronous=OFF");
    run("PRAGMA page_size=16384");
    run("PRAGMA locking_mode=EXCLUSIVE");
  }
}

void Connection::run(std::string_view sql) { prepare(sql).run(); }

std::int64_t Connection::number(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Connection::stop_when(std::function<bool()> stop) {
  constexpr int kSteps = 1 << 20;  // of SQLite's machine, which takes some ten million a second
  const auto call = [](void* context) { return (*static_cast<std::function<bool()>*>(context))() ? 1 : 0; };
  stop_ = std::make_unique<std::function<bool()>>(std::move(stop));
  sqlite3_progress_handler(connection_.get(), kSteps, call, stop_.get());
}

void Connection::now_and_then(std::function<void()> act) {
  stop_when([act = std::move(act)] {
    act();
    return false;
  });
}

void Connection::answer_only() {
  const auto allow = [](void*, int action, const char*, const char*, const char*, const char*) {
    const bool reads =
        action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
    return reads ? SQLITE_OK : SQLITE_DENY;
  };
  check(sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 1, nullptr), connection_.get(), "sqlite3_db_config");
  sqlite3_limit(connection_.get(), SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(connection_.get(), SQLITE_LIMIT_SQL_LENGTH, kLongestStatement);
  check(sqlite3_set_authorizer(connection_.get(), allow, nullptr), connection_.get(), "sqlite3_set_authorizer");
}

void Connection::limit_length(std::int64_t bytes) {
  sqlite3_limit(connection_.get(), SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::min<std::int64_t>(bytes, std::numeric_limits<int>::max())));
}

Transaction::~Transaction() {
  if (connection_ == nullptr) return;
  try {
    connection_->run("ROLLBACK");
  } catch (...) {  // NOLINT(bugprone-empty-catch): rolled back by SQLite itself, as after a full disk
  }
}

void Transaction::commit() {
  connection_->run("COMMIT");
  connection_ = nullptr;
}

}  // namespace dlkprof::store
