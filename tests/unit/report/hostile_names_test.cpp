// Whatever a program calls its ops and kernels, csv and json stay whole.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "report/diagnosis/reports.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/launches/reports.h"
#include "report/ops/reports.h"
#include "report/ops/summary_report.h"
#include "report/registry.h"
#include "report/screen/screen.h"
#include "support/sample_fold.h"

namespace dlkprof::report::hostile_names_test {
namespace {

// As RFC 4180 reads it: the records with their fields; fails where quotes are not closed or stand where they may not.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> fields;
  for (std::size_t at = 0; at < text.size();) {
    std::string& field = fields.emplace_back();
    if (text[at] == '"') {
      for (++at; at < text.size() && (text[at] != '"' || (at + 1 < text.size() && text[at + 1] == '"')); ++at) {
        if (text[at] == '"') ++at;
        field += text[at];
      }
      EXPECT_LT(at++, text.size()) << "a quote is not closed";
    } else {
      while (at < text.size() && text[at] != ',' && text[at] != '\r') field += text[at++];
      EXPECT_EQ(field.find_first_of("\"\n"), std::string::npos) << field;
    }
    if (text[at] == ',') {
      ++at;
      continue;
    }
    EXPECT_EQ(text.substr(at, 2), "\r\n");
    at += 2;
    records.push_back(std::move(fields));
    fields.clear();
  }
  return records;
}

std::vector<Rows> all_reports(const model::Profile& profile) {
  std::vector<Rows> all;
  for (const Report& report : reports()) {
    if (report.rows != nullptr) all.push_back(report.rows({profile}));
  }
  return all;
}

TEST(HostileNames, CsvIsWhole) {
  const model::Profile sample = test::hostile_fold();
  for (const Rows& rows : all_reports(sample)) {
    const auto records = read_csv(to_csv(to_table(rows)));
    EXPECT_EQ(records.size(), rows.count + 1) << rows.name;
    for (const auto& record : records) EXPECT_EQ(record.size(), rows.columns.size()) << rows.name;
  }
  const auto records = read_csv(to_csv(flatten(summary_tables(sample, {test::kHostileName}))));
  for (const auto& record : records) EXPECT_EQ(record.size(), 8U);
}

// To a terminal that takes C1 controls from UTF-8 these are escape sequences, and the others turn what follows around.
TEST(HostileNames, DataHasNoControls) {
  const std::string name =
      "=1+2 \xc2\x9b[2J\xc2\x9d"
      "0;title\x07 \x7f\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c end\n";
  Table table;
  table.columns = {{"Name"}};
  table.rows = {{name}};
  const auto has_control = [](const std::string& text) {
    bool found = false;
    for_each_code_point(
        text, [&found](std::string_view, char32_t c) { found |= is_control(c) && c != U'\r' && c != U'\n' && c != U'\t'; });
    return found;
  };
  ASSERT_TRUE(has_control(name));
  EXPECT_FALSE(has_control(to_csv(table)));
  std::string json;
  add_json_text(json, name);
  EXPECT_FALSE(has_control(json));
  EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), name) << "and nothing is lost";
  EXPECT_EQ(to_csv(table).substr(6, 5), "\"=1+2") << "as docs/user/reports.md says";
}

// Each report on a terminal: the columns that are listed for it are its own, and no line is wider than the page.
TEST(HostileNames, TablesForPeopleFitThePage) {
  const model::Profile sample = test::hostile_fold();
  for (const Rows& rows : all_reports(sample)) {
    if (report_of(rows.name).of_launches) continue;  // whose columns are the metrics that were measured
    for (const PeopleColumn& column : people_columns(rows.name))
      EXPECT_NO_THROW((void)find_column(rows, column.column)) << rows.name;
    EXPECT_FALSE(people_columns(rows.name).empty()) << rows.name;
    for (const std::size_t width : {40U, 80U, 200U}) {
      const std::string text = people_table(rows, {}, people_columns(rows.name), {.width = width, .styled = false});
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << rows.name;
      for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), width) << rows.name << ": " << line;
    }
  }
}

TEST(HostileNames, CsvKeepsTheText) {
  const model::Profile sample = test::hostile_fold();
  const std::string name = read_csv(to_csv(to_table(detail_report(sample)))).at(1).at(1);
  EXPECT_EQ(name.substr(0, 5), "a,\"b\"");
  EXPECT_NE(name.find("{'x': 1}"), std::string::npos);
  EXPECT_EQ(name.find('\x1b'), std::string::npos);
}

TEST(HostileNames, JsonIsWhole) {
  const model::Profile sample = test::hostile_fold();
  for (const Rows& rows : all_reports(sample)) {
    const auto json = nlohmann::json::parse(to_json(to_table(rows)));
    EXPECT_EQ(json["report"], rows.name);
    ASSERT_EQ(json["rows"].size(), rows.count);
    for (const auto& row : json["rows"]) EXPECT_EQ(row.size(), rows.columns.size());
  }
  EXPECT_TRUE(nlohmann::json::accept(summary_json(summary_tables(sample, {test::kHostileName}))));
  std::string dump;
  write_model(sample, [&dump](std::string_view piece) { dump += piece; });
  EXPECT_TRUE(nlohmann::json::accept(dump));
}

TEST(HostileNames, TerminalStaysCalm) {
  const model::Profile sample = test::hostile_fold();
  std::string text = screen(sample, test::kHostileName, {}) + findings_text(sample, {}, {}) +
                     summary_text(summary_tables(sample, {test::kHostileName}));
  for (const Rows& rows : all_reports(sample)) text += to_text(to_table(rows));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos) << "no text that runs from right to left";
}

}  // namespace
}  // namespace dlkprof::report::hostile_names_test
