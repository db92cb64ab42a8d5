#include "store/query.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

constexpr const char* kOneSelect = "Give one SELECT, such as SELECT op_name, gpu_total_ns FROM detail LIMIT 10";

void check_views(const Connection& connection, const std::filesystem::path& path) {
  std::map<std::string, std::string, std::less<>> ours;
  for (const View& view : views()) ours.emplace(view.name, create_statement(view));
  Statement found = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'view'");
  while (found.step()) {
    const auto view = ours.find(found.text(0));
    if (view != ours.end() && view->second == found.text(1)) continue;
    throw Error(fmt::format("cannot query the database {}", printable(path.native())),
                fmt::format("view {} is not as written", printable(found.text(0), 40)),
                "It was changed or is damaged: make it again from the captures.");
  }
}

// Only blanks and semicolons.
bool is_nothing(std::string_view sql) { return sql.find_first_not_of(" \t\r\n;") == std::string_view::npos; }

QueryCell cell_of(const Statement& statement, int column) {
  switch (statement.type(column)) {
    case CellType::integer:
      return statement.integer(column);
    case CellType::real:
      return statement.real(column);
    case CellType::null:
      return {};
    default:
      return valid_utf8(statement.text(column));
  }
}

std::size_t size_of(const QueryCell& cell) {
  constexpr std::size_t kNumber = 24;  // with what stands between cells
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? kNumber : text->size() + 4;
}

}  // namespace

QueryDatabase::QueryDatabase(const std::filesystem::path& path) : database_(open_ours(path, Access::read)) {
  check_views(database_.connection, path);
  database_.connection.answer_only();
}

QueryAnswer QueryDatabase::ask(std::string_view sql, const QueryLimits& limits, const std::function<bool()>& stop) {
  const auto end = std::chrono::steady_clock::now() + limits.time;
  bool stopped = false, late = false;
  database_.connection.stop_when([&] {
    stopped = stopped || stop();
    late = std::chrono::steady_clock::now() >= end;
    return stopped || late;
  });
  QueryAnswer answer;
  try {
    std::string_view rest;
    Statement statement = database_.connection.prepare(sql, &rest);
    if (statement.columns() == 0 || !is_nothing(rest)) throw UsageError("that is not one query", "", kOneSelect);
    for (int i = 0; i < statement.columns(); ++i) answer.columns.push_back(valid_utf8(statement.column_name(i)));
    for (std::size_t bytes = 0; statement.step();) {
      std::vector<QueryCell> row;
      for (int i = 0; i < statement.columns(); ++i) bytes += size_of(row.emplace_back(cell_of(statement, i)));
      if (bytes > limits.bytes) {
        answer.is_cut = true;
        break;
      }
      answer.rows.push_back(std::move(row));
    }
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    if (stopped) throw QueryStopped();
    if (late) {
      throw Error(fmt::format("the query took longer than {} s", limits.time.count() / 1000), "",
                  "Ask for less: narrow it with WHERE, and join by op_id or config.");
    }
    throw UsageError("the query cannot be answered", error.detail(), kOneSelect);
  }
  return answer;
}

}  // namespace dlkprof::store
