// The tables of the summary as csv, json and text.

#include <algorithm>
#include <array>
#include <map>

#include "report/format/json.h"
#include "report/format/people.h"
#include "report/ops/summary_report.h"

namespace dlkprof::report {
namespace {

const std::array kTableColumns{Column{"GPU Time (ns)", "ns"}, Column{"CPU Time (ns)", "ns"}, Column{"# Ops", ""},
                               Column{"# Kernels", ""}};

// Where a column stands in the flat table, or where it would be added.
std::size_t flat_column(const Table& flat, const std::string& name) {
  const auto found =
      std::find_if(flat.columns.begin(), flat.columns.end(), [&name](const Column& column) { return column.name == name; });
  return static_cast<std::size_t>(found - flat.columns.begin());
}

void add_member(std::string& out, const std::string& name, bool& first) {
  if (!first) out += ", ";
  first = false;
  add_json_text(out, name);
  out += ": ";
}

void add_row(std::string& out, const SummaryTable& table, const SummaryRow& row) {
  if (table.columns.empty()) return add_json(out, row.cells.front());
  bool first = true;
  out += '{';
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    add_member(out, table.columns[i].name, first);
    add_json(out, row.cells[i]);
  }
  out += '}';
}

std::string units_json(const std::vector<SummaryTable>& tables) {
  std::map<std::string, std::string> units;
  for (const SummaryTable& table : tables) {
    for (const Column& column : table.columns) units[column.name] = column.unit;
    for (const SummaryRow& row : table.rows) units[row.name] = row.unit;
  }
  std::string text;
  bool first = true;
  for (const auto& [name, unit] : units) {
    if (unit.empty()) continue;
    add_member(text, name, first);
    add_json_text(text, unit);
  }
  return "{" + text + "}";
}

// All rows and columns of a table, also those that are empty.
Choice whole(const Table& table) {
  Choice choice{.columns = {}, .sort = {}, .top = 0, .accepts = {}};
  for (const Column& column : table.columns) choice.columns.push_back(column.name);
  return choice;
}

}  // namespace

Table flatten(const std::vector<SummaryTable>& tables) {
  Table flat{"summary", {{"Table", ""}, {"Row Name", ""}, {"Value", ""}, {"Unit", ""}}, {}};
  flat.columns.insert(flat.columns.end(), kTableColumns.begin(), kTableColumns.end());
  for (const SummaryTable& table : tables) {
    for (const Column& column : table.columns) {
      if (flat_column(flat, column.name) == flat.columns.size()) flat.columns.push_back(column);
    }
  }
  for (const SummaryTable& table : tables) {
    for (const SummaryRow& row : table.rows) {
      std::vector<Cell>& cells = flat.rows.emplace_back(flat.columns.size());
      cells[0] = table.name;
      cells[1] = row.name;
      if (table.columns.empty()) {
        cells[2] = row.cells.front();
        if (!row.unit.empty()) cells[3] = row.unit;
      }
      for (std::size_t i = 0; i < table.columns.size(); ++i) cells[flat_column(flat, table.columns[i].name)] = row.cells[i];
    }
  }
  return flat;
}

std::string summary_json(const std::vector<SummaryTable>& tables) {
  std::string text = "{\n  \"report\": \"summary\",\n  \"units\": " + units_json(tables) + ",\n  \"tables\": {";
  const char* before_table = "\n    ";
  for (const SummaryTable& table : tables) {
    text += before_table;
    before_table = ",\n    ";
    add_json_text(text, table.name);
    text += ": {";
    const char* before_row = "\n      ";
    for (const SummaryRow& row : table.rows) {
      text += before_row;
      before_row = ",\n      ";
      add_json_text(text, row.name);
      text += ": ";
      add_row(text, table, row);
    }
    text += "\n    }";
  }
  return text + "\n  }\n}\n";
}

std::string summary_text(const std::vector<SummaryTable>& tables, const Page& page) {
  std::string text;
  for (const SummaryTable& table : tables) {
    Table shown{table.name, {{table.name, ""}}, {}};
    if (table.columns.empty()) shown.columns.push_back({"Value", ""});
    shown.columns.insert(shown.columns.end(), table.columns.begin(), table.columns.end());
    for (const SummaryRow& row : table.rows) {
      std::vector<Cell>& cells =
          shown.rows.emplace_back(std::vector<Cell>{std::string(row.unit.empty() ? row.name : without_unit(row.name))});
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        // Values of one column have units of their own.
        const std::string& unit = table.columns.empty() ? row.unit : table.columns[i].unit;
        cells.emplace_back(table.columns.empty() ? Cell{people_text(row.cells[i], unit)} : row.cells[i]);
      }
    }
    text += (text.empty() ? "" : "\n") + people_table(rows_of(shown), whole(shown), {}, page);
  }
  return text;
}

}  // namespace dlkprof::report
