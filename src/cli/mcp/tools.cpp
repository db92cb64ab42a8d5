#include "cli/mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "advise/compare/compare_runs.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/analysis.h"
#include "cli/installation.h"
#include "cli/outputs.h"
#include "cli/run_loader.h"
#include "cli/sass.h"
#include "report/compare/compare_report.h"
#include "report/compare/compare_view.h"
#include "report/diagnosis/reports.h"
#include "report/launches/reports.h"
#include "report/registry.h"
#include "report/screen/screen.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kOpsCompared = 15;

// Arguments of a call, of the types that the schema says.
class Arguments {
 public:
  explicit Arguments(const std::string& text) : all_(Json::parse(text, nullptr, false)) {
    if (!all_.is_object()) throw UsageError("the arguments are no object", "", "");
  }
  [[nodiscard]] std::string text(const char* name, bool required = false) const {
    const auto found = all_.find(name);
    if (found == all_.end()) {
      if (required) throw UsageError(fmt::format("'{}' is missing", name), "", "");
      return "";
    }
    if (!found->is_string()) throw UsageError(fmt::format("'{}' is no text", name), "", "");
    return found->get<std::string>();
  }
  [[nodiscard]] std::optional<std::size_t> count(const char* name) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return std::nullopt;
    if (!found->is_number_unsigned()) throw UsageError(fmt::format("'{}' is no whole number from 0 on", name), "", "");
    return found->get<std::size_t>();
  }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> list;
    const auto found = all_.find(name);
    if (found == all_.end()) return list;
    if (!found->is_array()) throw UsageError(fmt::format("'{}' is no list", name), "", "");
    for (const Json& one : *found) {
      if (!one.is_string()) throw UsageError(fmt::format("'{}' is no list of texts", name), "", "");
      list.push_back(one.get<std::string>());
    }
    return list;
  }

 private:
  Json all_;
};

// Reports.

ToolAnswer report_tool(const Arguments& arguments, ServedRuns& runs) {
  const std::string file = runs.file_of(arguments.text("run"));
  const model::Profile& profile = runs.profile(file);
  const std::string asked = arguments.text("report");
  if (asked.empty()) return {.text = report::screen_markdown(profile, file)};
  const std::string name = report::report_names({asked}, false).front();
  const std::string format = arguments.text("format");
  if (!format.empty() && format != "markdown" && format != "json" && format != "csv")
    throw UsageError("'format' is none of markdown, json and csv", "", "");
  if (report::report_of(name).of_ops && !profile.has_ops()) throw Error("no ops were recorded", "", kRecordOps);
  const cupti::Catalogue catalogue = load_catalogue();
  const report::Asked sections = report::asked_of(profile.timeline, catalogue);
  const report::Inputs inputs{
      .profile = profile,
      .profile_name = valid_utf8(run_name(file)),
      .sections = sections.sections,
      .metrics = sections.metrics,
      .unit_of = report::unit_lookup(catalogue, profile.timeline),
      .choice = {.columns = arguments.texts("columns"), .sort = arguments.text("sort"), .top = arguments.count("top")},
      .sass = sass_for({name}, profile.timeline)};
  ToolAnswer answer;
  write_report(name, format.empty() ? "markdown" : format, inputs, [&answer](std::string_view piece) {
    if (answer.text.size() <= kLongestAnswer) answer.text += piece;
  });
  return answer;
}

ToolAnswer findings_tool(const Arguments& arguments, ServedRuns& runs) {
  const std::string document = report::findings_json(runs.profile(runs.file_of(arguments.text("run"))));
  return {.text = document, .structured = document};
}

ToolAnswer compare_tool(const Arguments& arguments, ServedRuns& runs) {
  std::vector<advise::RunFigures> figures;
  std::vector<std::string> labels;
  for (const char* which : {"base", "other"}) {
    const std::string file = runs.file_of(arguments.text(which, true));
    figures.push_back(advise::figures_of(runs.profile(file)));
    labels.push_back(valid_utf8(run_name(file)));
  }
  labels = advise::unique_labels(std::move(labels));
  for (std::size_t i = 0; i < labels.size(); ++i) figures[i].label = labels[i];
  const advise::ComparedRuns compared = advise::compare_all(std::move(figures));
  return {.text = report::compare_text(report::compare_view(compared, kOpsCompared)),
          .structured = report::compare_json(compared)};
}

// Queries.

Json as_json(const store::QueryCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  if (const auto* real = std::get_if<double>(&cell)) return std::isfinite(*real) ? Json(*real) : Json(nullptr);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

ToolAnswer query_tool(const Arguments& arguments, ServedRuns& runs, const std::function<bool()>& stop) {
  const std::string sql = arguments.text("sql", true);
  store::QueryLimits limits;
  limits.bytes = kLongestAnswer / 2;  // what is structured stands in the answer as text, too
  const store::QueryAnswer answer = runs.database(runs.file_of(arguments.text("run"))).ask(sql, limits, stop);
  Json document{{"columns", answer.columns}, {"rows", Json::array()}, {"cut", answer.is_cut}};
  for (const std::vector<store::QueryCell>& row : answer.rows) {
    Json cells = Json::array();
    for (const store::QueryCell& cell : row) cells.push_back(as_json(cell));
    document["rows"].push_back(std::move(cells));
  }
  if (answer.is_cut) {
    document["note"] =
        fmt::format("cut after {} rows: the answer is longer than 10 MB with its text. Ask for less, or add LIMIT and OFFSET.",
                    answer.rows.size());
  }
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  return {.text = text, .structured = text};
}

ToolAnswer schema_tool() {
  const std::string all = store::describe_schema();
  return {.text = all.substr(0, all.find("## Tables of the timeline"))};
}

Json object_schema(const Json& properties, std::vector<std::string> required) {
  return {{"type", "object"}, {"properties", properties}, {"required", std::move(required)}, {"additionalProperties", false}};
}
Json text_schema(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json report_schema(const Json& run) {
  Json names = Json::array();
  for (const report::Report& one : report::reports()) names.push_back(one.name);
  return object_schema({{"run", run},
                        {"report", {{"type", "string"}, {"enum", names}, {"description", "Without: the verdict on one screen"}}},
                        {"format", {{"type", "string"}, {"enum", {"markdown", "json", "csv"}}}},
                        {"top", {{"type", "integer"}, {"minimum", 0}, {"description", "Rows; 0: all"}}},
                        {"sort", text_schema("Column to sort by")},
                        {"columns", {{"type", "array"}, {"items", {{"type", "string"}}}}}},
                       {});
}

ToolAnswer dispatch(const std::string& name, const Arguments& arguments, ServedRuns& runs, const std::function<bool()>& stop) {
  if (name == "report") return report_tool(arguments, runs);
  if (name == "findings") return findings_tool(arguments, runs);
  if (name == "compare") return compare_tool(arguments, runs);
  if (name == "query") return query_tool(arguments, runs, stop);
  return schema_tool();
}

}  // namespace

std::string tools_json() {
  const Json run = text_schema(
      "A run that the server was started with, or the path of a capture or database; may be left out where there is one");
  const auto tool = [](const char* name, const char* description, Json schema) {
    return Json{{"name", name},
                {"description", description},
                {"inputSchema", std::move(schema)},
                {"annotations", {{"readOnlyHint", true}}}};
  };
  const Json tools = Json::array(
      {tool("report",
            "What holds a GPU program back, where its GPU time goes, and counters of its kernels. Without 'report': one screen "
            "with the verdict.",
            report_schema(run)),
       tool("findings",
            "What the rules found, each claim with evidence, the query that gives each figure, estimated gain and how to verify "
            "it; and "
            "what was not measured, with the options that collect it.",
            object_schema({{"run", run}}, {})),
       tool("compare", "What changes from one run to another, with a rank test that tells changes from noise.",
            object_schema({{"base", text_schema("The run to compare with")}, {"other", text_schema("The run to judge")}},
                          {"base", "other"})),
       tool("query", "One SELECT on the database of a run; the tool 'schema' names its views. At most 10 s and 10 MB.",
            object_schema({{"run", run}, {"sql", text_schema("SQLite's SQL")}}, {"sql"})),
       tool("schema", "The views that queries are for, with their columns, units and meanings.",
            object_schema(Json::object(), {}))});
  return tools.dump();
}

ToolAnswer call_tool(const std::string& name, const std::string& arguments, ServedRuns& runs, const std::function<bool()>& stop) {
  constexpr std::array kNames{"report", "findings", "compare", "query", "schema"};
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) throw std::out_of_range(name);
  ToolAnswer answer;
  try {
    answer = dispatch(name, Arguments(arguments), runs, stop);
  } catch (const Error& error) {
    answer = {.text = error.message(), .is_error = true};
  }
  if (answer.text.size() <= kLongestAnswer && answer.structured.size() <= kLongestAnswer) return answer;
  answer.structured.clear();
  if (answer.text.size() <= kLongestAnswer) {
    answer.text += "\n(cut: as data the answer is longer than 10 MB and left out; ask for what matters with a query)\n";
    return answer;
  }
  std::size_t end = kLongestAnswer;
  while (end > 0 && (static_cast<unsigned char>(answer.text[end]) & 0xc0U) == 0x80U) --end;  // not within a character
  answer.text.resize(end);
  answer.text += "\n(cut after 10 MB: ask for fewer rows with top, or for less with a query)\n";
  return answer;
}

}  // namespace dlkprof::cli
