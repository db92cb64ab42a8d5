// dlkprof metrics: what can be measured: chips, sets, sections, and the metrics that NVPerf has for a chip.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/machine.h"
#include "cli/profile/profile_options.h"
#include "cli/verbs.h"
#include "cupti/host.h"
#include "cupti/machine.h"
#include "cupti/sass_metrics.h"
#include "model/names.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/format/table.h"
#include "select/pattern.h"

namespace dlkprof::cli {
namespace {

struct MetricsCommand {
  std::string chip, query, format = "table", cupti_path;
  bool list_chips = false, list_sets = false, list_sections = false, submetrics = false;
};

bool parse_metrics(int argc, char** argv, MetricsCommand& command) {
  CLI::App app("Lists sets (by default), sections or metrics that can be measured. No GPU is needed.", "dlkprof metrics");
  app.option_defaults()->group("Listing");
  app.add_option("--chip", command.chip, "A GPU, such as H200, or NVPerf's name of its chip: GH100 (default: this machine's)")
      ->type_name("<chip>");
  app.add_flag("--list-chips", command.list_chips, "The chips that can be named");
  app.add_flag("--list-sets", command.list_sets, "The sets that --set takes");
  app.add_flag("--list-sections", command.list_sections, "The sections that --section takes, and their metrics");
  app.add_option("--query", command.query, "The metrics of a chip whose name matches this regular expression in part")
      ->type_name("<regex>");
  app.add_flag("--submetrics", command.submetrics, "With --query: full names, such as dram__bytes.sum.per_second");
  app.add_option("--format", command.format, "What stdout gets")->check(one_of({"table", "csv", "json"}))->capture_default_str();
  app.add_option("--cupti-path", command.cupti_path, "The libcupti to ask, or its folder")->type_name("<path>");
  if (parse(app, argc, argv).done) return false;
  check_cupti_path(command.cupti_path);
  const int asked = int{command.list_chips} + int{command.list_sets} + int{command.list_sections} + int{!command.query.empty()};
  if (asked > 1)
    throw UsageError("only one list at a time", "", "Give one of --list-chips, --list-sets, --list-sections and --query.");
  if (command.submetrics && command.query.empty())
    throw UsageError("--submetrics needs --query", "", "Example: --query dram__bytes --submetrics");
  return true;
}

report::Table chips_table(const MetricsCommand& command) {
  report::Table table{"chips", {{"chip", ""}}, {}};
  for (const std::string& chip : cupti::Host::chips(cupti::open_library(command.cupti_path))) table.rows.push_back({chip});
  return table;
}

report::Table sets_table(const cupti::Catalogue& catalogue) {
  report::Table table{"sets", {{"set", ""}, {"sections", ""}, {"about", ""}}, {}};
  for (const cupti::MetricSet& set : catalogue.sets()) {
    table.rows.push_back({set.name, fmt::format("{}", fmt::join(set.sections, " ")), set.about});
  }
  return table;
}

report::Table sections_table(const cupti::Catalogue& catalogue) {
  report::Table table{"sections", {{"section", ""}, {"label", ""}, {"unit", ""}, {"metric", ""}}, {}};
  for (const cupti::Section& section : catalogue.sections()) {
    for (const cupti::SectionRow& row : section.rows) {
      const std::string metric = row.metrics.empty() ? fmt::format("(computed) {}", row.computed) : row.metrics.front();
      table.rows.push_back({section.name, row.label, row.unit, metric});
    }
  }
  for (const char* metric : cupti::kSassMetrics) {
    table.rows.push_back({kSourceSection, "of each instruction", "", metric});
  }
  return table;
}

// Matches without regard to case, as nobody remembers that `Xbar` is not written so.
select::Pattern compile_query(const std::string& query) {
  // Compiled as it was typed first, so that the caret of a complaint stands under the user's own words.
  const select::Pattern typed({"--query", query, query}, select::Extent::anywhere);
  const std::string any_case = "(?i)" + query;
  return {{"--query", any_case, any_case}, select::Extent::anywhere};
}

constexpr std::array kTypeNames{"counter", "ratio", "throughput"};  // in the order of MetricType

report::Table query_table(const MetricsCommand& command) {
  const cupti::Library& library = cupti::open_library(command.cupti_path);
  select::Pattern pattern = compile_query(command.query);
  const cupti::Host host = cupti::Host::create(library, choose_chip(command.chip, library, command.cupti_path));
  report::Table table{"metrics", {{"metric", ""}, {"type", ""}, {"hardware", ""}, {"unit", ""}, {"description", ""}}, {}};
  for (const auto type : {cupti::MetricType::counter, cupti::MetricType::ratio, cupti::MetricType::throughput}) {
    for (const std::string& base : host.base_metrics(type)) {
      std::vector<std::string> names{base};
      if (command.submetrics) {
        names = host.submetrics(base, type);
        for (std::string& name : names) name.insert(0, base);
      }
      std::erase_if(names, [&](const std::string& name) { return !pattern.matches(name); });
      if (names.empty()) continue;
      for (const std::string& name : names) {
        const cupti::MetricProperties properties = host.properties(name);
        table.rows.push_back(
            {name, model::name_in(kTypeNames, type), properties.hardware_unit, properties.unit, properties.description});
      }
    }
  }
  if (table.rows.empty()) {
    throw UsageError(fmt::format("no metric of {} matches {}", host.chip(), printable(command.query, 80)), "",
                     "Its names are like dram__bytes_read and sm__warps_active; with --submetrics like dram__bytes_read.sum.");
  }
  std::sort(table.rows.begin(), table.rows.end());
  return table;
}

report::Table make_table(const MetricsCommand& command) {
  if (command.list_chips) return chips_table(command);
  if (!command.query.empty()) return query_table(command);
  if (!command.chip.empty())
    (void)cupti::Host::create(cupti::open_library(command.cupti_path), chip_named(command.chip));  // refuses a name that is none
  const cupti::Catalogue catalogue = load_catalogue();
  return command.list_sections ? sections_table(catalogue) : sets_table(catalogue);
}

}  // namespace

int run_metrics(int argc, char** argv) {
  MetricsCommand command;
  if (!parse_metrics(argc, argv, command)) return 0;
  const report::Table table = make_table(command);
  if (command.format == "csv") {
    print_data(report::to_csv(table));
  } else if (command.format == "json") {
    print_data(report::to_json(table));
  } else {
    print_data(report::to_wrapped_text(table, text_width(STDOUT_FILENO)));
  }
  return 0;
}

}  // namespace dlkprof::cli
