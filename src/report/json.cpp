#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace dlkprof::report {
namespace {

using Json = nlohmann::ordered_json;

Json value(const Cell& cell) {
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) return *count;
  if (const auto* number = std::get_if<double>(&cell)) return std::isfinite(*number) ? Json(*number) : Json(nullptr);
  if (const auto* text = std::get_if<std::string>(&cell)) return valid_utf8(*text);
  return nullptr;
}

}  // namespace

std::string to_json(const Table& table) {
  Json units = Json::object();
  for (const Column& column : table.columns) {
    if (!column.unit.empty()) units[valid_utf8(column.name)] = valid_utf8(column.unit);
  }
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(valid_utf8(column.name));
  Json rows = Json::array();
  for (const std::vector<Cell>& cells : table.rows) {
    Json row = Json::object();
    // Appended, not looked up: an ordered object searches itself for every key, and column names differ anyway.
    auto& fields = row.get_ref<Json::object_t&>();
    for (std::size_t i = 0; i < names.size(); ++i) fields.emplace_back(names[i], value(cells[i]));
    rows.push_back(std::move(row));
  }
  const Json document{{"report", table.name}, {"units", std::move(units)}, {"rows", std::move(rows)}};
  return document.dump(2) + "\n";
}

}  // namespace dlkprof::report
