#include "view/questions.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "report/format/json.h"

namespace dlkprof::view {
namespace {

using nlohmann::json;
using store::CellType;
using store::Connection;
using store::Statement;

constexpr std::int64_t kMostCellBytes = 16 << 20;
constexpr std::size_t kMostParameters = 100;

struct Question {
  std::size_t run = 0;
  std::string sql;
  std::vector<json> parameters;
};

Question parse_question(std::string_view body) {
  const json asked = json::parse(body, nullptr, false);
  const Error malformed("the question is not in the form of the page", "", "Load the page again.");
  if (!asked.is_object()) throw malformed;
  const auto sql = asked.find("sql");
  const auto run = asked.find("run");
  const auto parameters = asked.find("parameters");
  if (sql == asked.end() || !sql->is_string() || run == asked.end() || !run->is_number_unsigned()) throw malformed;
  Question question{run->get<std::size_t>(), sql->get<std::string>(), {}};
  if (parameters == asked.end()) return question;
  if (!parameters->is_array() || parameters->size() > kMostParameters) throw malformed;
  question.parameters = parameters->get<std::vector<json>>();
  return question;
}

void bind_all(Statement& statement, const std::vector<json>& parameters) {
  int place = 0;
  for (const json& one : parameters) {
    ++place;
    if (one.is_number_integer()) {
      statement.bind_parameter(place, one.get<std::int64_t>());
    } else if (one.is_number()) {
      statement.bind_parameter(place, one.get<double>());
    } else if (one.is_string()) {
      statement.bind_parameter(place, std::string_view(one.get_ref<const std::string&>()));
    } else {
      statement.bind_parameter(place, std::optional<std::int64_t>());
    }
  }
}

void add_cell(std::string& out, const Statement& row, int column) {
  switch (row.type(column)) {
    case CellType::integer:
      out += std::to_string(row.integer(column));
      break;
    case CellType::real:
      report::add_json(out, report::Cell{row.real(column)});
      break;
    case CellType::text:
      report::add_json_text(out, row.text(column));
      break;
    default:
      out += "null";
  }
}

std::string rows_of(Statement& statement, const AnswerBounds& bounds) {
  std::string out = R"({"columns":[)";
  const int columns = statement.columns();
  for (int column = 0; column < columns; ++column) {
    if (column > 0) out += ',';
    report::add_json_text(out, statement.column_name(column));
  }
  out += R"(],"rows":[)";
  bool cut = false;
  for (std::size_t rows = 0; statement.step(); ++rows) {
    cut = rows == bounds.rows || out.size() > bounds.bytes;
    if (cut) break;
    out += rows == 0 ? "[" : ",[";
    for (int column = 0; column < columns; ++column) {
      if (column > 0) out += ',';
      add_cell(out, statement, column);
    }
    out += ']';
  }
  return out + fmt::format(R"(],"cut":{}}})", cut);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n;") == std::string_view::npos; }

}  // namespace

Questions::Questions(const std::vector<std::filesystem::path>& databases) {
  for (const std::filesystem::path& path : databases) runs_.emplace_back(path, store::Access::ask);
  for (std::size_t i = 1; i < databases.size(); ++i)
    runs_.front().prepare(fmt::format("ATTACH ? AS run{}", i)).run(databases[i].native());
  for (Connection& run : runs_) {
    run.limit_length(kMostCellBytes);
    run.answer_only();
  }
}

std::string Questions::answer(std::string_view body, const AnswerBounds& bounds, const std::function<bool()>& is_gone) {
  const Question question = parse_question(body);
  if (question.run >= runs_.size()) throw Error("there is no such run", "", "Load the page again.");
  Connection& connection = runs_[question.run];
  // Shared with the connection, which may ask once more after we have returned.
  const auto is_late = std::make_shared<bool>(false);
  connection.stop_when([is_late, is_gone, end = std::chrono::steady_clock::now() + bounds.time] {
    *is_late = std::chrono::steady_clock::now() > end;
    return *is_late || is_gone();
  });
  try {
    std::string_view rest;
    Statement statement = connection.prepare(question.sql, &rest);
    if (!is_blank(rest)) throw Error("one statement at a time is answered", "", "Ask them one after the other.");
    bind_all(statement, question.parameters);
    return rows_of(statement, bounds);
  } catch (const Error&) {
    if (!*is_late) throw;
    throw Error(fmt::format("the question took longer than {} s, and was ended", bounds.time.count() / 1000), "",
                "Ask for less.");
  }
}

}  // namespace dlkprof::view
