#include "cli/report_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "base/say.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/captures.h"
#include "cli/ignored_signal.h"
#include "cli/installation.h"
#include "cli/metric_names.h"
#include "model/timeline/raw_counters.h"
#include "report/launches/asked.h"
#include "report/launches/kernel_tables.h"
#include "report/launches/section_rows.h"
#include "report/launches/units.h"
#include "report/registry.h"
#include "select/filters.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// Tables by default where a person reads, and what is most asked for where a script does.
std::vector<std::string> default_reports(const ReportCommand& command, const RunFiles& source) {
  const bool tables = command.format == "table" && !command.to_files;
  if (tables && command.choice.is_asked()) return {"kernel"};
  if (command.folding.simple()) return {tables ? "summary" : "kernel"};
  if (source.is_database()) return {tables ? "summary" : "detail"};
  return tables ? std::vector<std::string>{"kernels", "summary"} : std::vector<std::string>{"metrics"};
}

// A pattern that does not compile is told before anything is read.
std::function<bool(const std::string&)> name_filter(const std::string& value) {
  auto filter = std::make_shared<select::NameFilter>("--kernel-name", value, select::split_name(value));
  return [filter](const std::string& name) { return filter->matches(name); };
}

void check_choice(const ReportCommand& command) {
  const std::vector<std::string>& reports = command.outputs.reports;
  if (!command.choice.is_asked() || std::find(reports.begin(), reports.end(), "summary") == reports.end()) return;
  throw UsageError("the report summary is no table of kernels or ops", "",
                   "Leave out -k, --top, --sort and --columns, or name another report: --reports kernel");
}

void check_command(const ReportCommand& command) {
  check_folding(command.folding);
  check_outputs(command.outputs);
  check_choice(command);
  const std::vector<std::string>& reports = command.outputs.reports;
  if (!command.to_files && command.format != "table" && reports.size() > 1) {
    throw UsageError(fmt::format("stdout takes one report as {}", command.format), "",
                     fmt::format("Name one with --reports, or write files: --output_path . --formats {}", command.format));
  }
  if (!command.to_files)
    std::for_each(reports.begin(), reports.end(), [&](const auto& one) { check_format(one, command.format); });
}

// What the command line asks to be shown, else what the run was asked for.
report::Asked choose_sections(const ReportCommand& command, const model::Timeline& timeline, const cupti::Catalogue& catalogue) {
  report::Asked chosen;
  if (command.set.empty() && command.sections.empty()) {
    chosen = report::asked_of(timeline, catalogue);
  } else {
    std::vector<std::string> names = command.sections;
    if (!command.set.empty()) {
      const cupti::MetricSet& set = catalogue.set(command.set);
      names.insert(names.begin(), set.sections.begin(), set.sections.end());
    }
    for (const std::string& name : names) chosen.sections.push_back(catalogue.section(name));
  }
  for (const std::string& metric : command.metrics) {
    if (std::find(chosen.metrics.begin(), chosen.metrics.end(), metric) == chosen.metrics.end()) chosen.metrics.push_back(metric);
  }
  return chosen;
}

void check_section_names(const ReportCommand& command, const cupti::Catalogue& catalogue) {
  if (!command.set.empty()) (void)catalogue.set(command.set);
  for (const std::string& name : command.sections) (void)catalogue.section(name);
}

std::string as_table(const std::string& name, const report::Inputs& inputs) {
  if (name != "kernels") return report_text(name, inputs);
  return report::kernel_tables(inputs.profile.timeline, {inputs.sections, inputs.metrics, is_styled(STDOUT_FILENO)});
}

void print_reports(const ReportCommand& command, const report::Inputs& inputs) {
  const char* before = "";
  for (const std::string& name : command.outputs.reports) {
    if (command.format == "table") {
      print_data(before + as_table(name, inputs));
    } else {
      write_report(name, command.format, inputs, [](std::string_view piece) { print_data(std::string(piece)); });
    }
    before = "\n";
  }
}

// Of what the command line names and nothing was measured of: said once, with what collects it.
void print_unmeasured(const ReportCommand& command, const report::Inputs& inputs) {
  if (command.set.empty() && command.sections.empty()) return;
  const std::vector<std::string> names = report::unmeasured_sections(inputs.profile.timeline, inputs.sections);
  if (names.empty()) return;
  const std::string list = fmt::format("{}", fmt::join(names, ","));
  say("dlkprof: nothing was measured of {}: collect it with dlkprof --section {} <program>\n",
      names.size() == 1 ? "the section " + list : "these sections", list);
}

// A report as data does not say what is wrong with the captures, nor what is not in them.
void print_warning(const capture::NoticeRecord& notice) {
  if (notice.severity == capture::Severity::info) return;
  const Error words(printable(notice.what), printable(notice.detail), printable(notice.remedy));
  say("dlkprof: {}\n", words.message());
}

model::Timeline load(const ReportCommand& command, const RunFiles& source) {
  if (source.is_database()) return store::read_timeline(source.database);
  model::RawEvaluator evaluator(command.cupti_path, command.metrics);
  return model::load_timeline(source.captures, &evaluator);
}

// A report of ops is not to be empty where none were recorded.
void check_has_ops(const std::vector<std::string>& reports, const model::Profile& profile) {
  const auto found =
      std::find_if(reports.begin(), reports.end(), [](const auto& name) { return report::report_of(name).of_ops; });
  if (found == reports.end() || profile.has_ops()) return;
  const std::vector<model::LaunchCounts>& counts = profile.timeline.counts;
  const bool launched = std::any_of(counts.begin(), counts.end(), [](const auto& one) { return one.launches > 0; });
  if (!launched) throw Error(fmt::format("the report {} is of ops, and the program launched nothing", *found), "", "");
  throw Error(fmt::format("the report {} is of ops, and none were recorded", *found),
              "kernels were picked and nothing was asked about ops, or --timeline was off", kRecordOps);
}

void keep(const RunFiles& source, const model::Profile& profile) {
  const int id = store::add_aggregation(source.database, profile, advise::diagnosis_of(profile));
  say("dlkprof: {} shows aggregation {} now\n", printable(source.database.string()), id);
}

void show(const ReportCommand& command, const report::Inputs& inputs) {
  const std::vector<std::string>& reports = command.outputs.reports;
  for (const fs::path& file : write_reports(command.outputs, inputs)) {
    say("dlkprof: wrote {}\n", printable(file.string()));
  }
  if (!command.to_files) print_reports(command, inputs);
  const bool told =
      !command.to_files && command.format == "table" && std::find(reports.begin(), reports.end(), "summary") != reports.end();
  const std::vector<capture::NoticeRecord>& notices = inputs.profile.timeline.notices;
  if (!told) std::for_each(notices.begin(), notices.end(), print_warning);
  print_unmeasured(command, inputs);
  print_hints(reports, inputs);
}

}  // namespace

int report_again(ReportCommand command) {
  const RunFiles source = run_files(command.file, command.outputs.base_name);
  if (!command.kernel_name.empty()) command.choice.accepts = name_filter(command.kernel_name);
  std::vector<std::string>& reports = command.outputs.reports;
  reports = report::report_names(reports.empty() ? default_reports(command, source) : reports, command.folding.simple());
  check_command(command);
  const cupti::Catalogue catalogue = load_catalogue();
  check_section_names(command, catalogue);
  const IgnoredSignal guard(SIGXFSZ);  // a file that may not grow (ulimit -f) is to be an error, not our end
  const model::Profile profile = analyse(load(command, source), command.folding);
  check_has_ops(reports, profile);
  check_metrics_measured(command.metrics, profile.timeline, command.cupti_path);
  if (command.keep_aggregation && source.is_database() && !command.folding.simple()) keep(source, profile);
  report::Asked chosen = choose_sections(command, profile.timeline, catalogue);
  show(command, {.profile = profile,
                 .simple = command.folding.simple(),
                 .profile_name = command.outputs.base_name,
                 .sections = std::move(chosen.sections),
                 .metrics = std::move(chosen.metrics),
                 .unit_of = report::unit_lookup(catalogue, profile.timeline, command.cupti_path),
                 .choice = command.choice,
                 .page = {text_width(STDOUT_FILENO), is_styled(STDOUT_FILENO)}});
  return 0;
}

}  // namespace dlkprof::cli
