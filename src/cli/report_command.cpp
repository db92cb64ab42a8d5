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
#include "cli/run_loader.h"
#include "cli/sass.h"
#include "model/timeline/raw_counters.h"
#include "report/launches/kernel_tables.h"
#include "report/launches/reports.h"
#include "report/launches/section_rows.h"
#include "report/registry.h"
#include "report/screen/screen.h"
#include "select/filters.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// Whether nothing in particular is asked for: then a person gets the screen.
bool wants_screen(const ReportCommand& command) {
  const bool asks = !command.sections.empty() || !command.set.empty() || !command.metrics.empty() || command.choice.is_asked() ||
                    !command.kernel_name.empty() || !command.by.empty() || command.kernels;
  const bool is_for_reading = command.format == "table" || command.format == "markdown";
  return command.outputs.reports.empty() && is_for_reading && !command.to_files && !command.outputs.model_data && !asks;
}

// Tables by default where a person reads, and what is most asked for where a script does.
std::vector<std::string> default_reports(const ReportCommand& command, const RunFiles& source) {
  if (!command.outputs.reports.empty()) return command.outputs.reports;
  const bool sections = command.kernels || !command.sections.empty() || !command.set.empty() || !command.metrics.empty();
  if (!command.by.empty()) return {"detail"};
  if (command.format == "table" && !command.to_files) {
    if (sections) return {"kernels"};
    return {command.choice.is_asked() ? "kernel" : "summary"};
  }
  if (command.folding.simple()) return {"kernel"};
  return {source.is_database() ? "detail" : "metrics"};
}

std::optional<model::By> group_by(const std::string& name) {
  const std::span<const char* const> names = model::by_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<model::By>(found - names.begin()));
}

// A pattern that does not compile is told before anything is read.
std::function<bool(const std::string&)> name_filter(const std::string& value) {
  auto filter = std::make_shared<select::NameFilter>("--kernel-name", value, select::split_name(value));
  return [filter](const std::string& name) { return filter->matches(name); };
}

// What only `kernels` shows is not to be left out in silence.
void check_sections(const ReportCommand& command) {
  const std::vector<std::string>& reports = command.outputs.reports;
  const char* const asked = !command.sections.empty() ? "--section"
                            : !command.set.empty()    ? "--set"
                            : command.kernels         ? "--kernels"
                                                      : nullptr;
  if (asked == nullptr || reports.empty() || std::find(reports.begin(), reports.end(), "kernels") != reports.end()) return;
  throw UsageError(fmt::format("{} is of the report kernels, and {} shows no sections", asked, reports.front()), "",
                   fmt::format("Leave out {}, or name --reports kernels.", asked));
}

void check_choice(const ReportCommand& command) {
  const std::vector<std::string>& reports = command.outputs.reports;
  const auto whole = std::find_if(reports.begin(), reports.end(), [](const auto& one) { return !report::report_of(one).groups; });
  if (!command.by.empty() && whole != reports.end()) {
    throw UsageError(fmt::format("--by groups ops, and the report {} is of something else", *whole), "",
                     "Leave out --by, or name detail, kernel, op_type, tensor, group_node or bottleneck.");
  }
  if (!command.choice.is_asked() || std::find(reports.begin(), reports.end(), "summary") == reports.end()) return;
  throw UsageError("the report summary is no table of kernels or ops", "",
                   "Leave out -k, --top, --sort and --columns, or name another report: --reports kernel");
}

void check_command(const ReportCommand& command) {
  check_folding(command.folding);
  check_outputs(command.outputs);
  check_choice(command);
  check_sections(command);
  const std::vector<std::string>& reports = command.outputs.reports;
  check_stdout(command);
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

std::string as_table(const std::string& name, const report::Inputs& inputs, std::size_t most) {
  if (name != "kernels") return report_text(name, inputs);
  report::KernelTablesOptions options{inputs.sections, inputs.metrics, is_styled(STDOUT_FILENO)};
  if (most == 0) most = inputs.choice.top.value_or(0);
  if (most > 0) options.most = most;
  options.accepts = inputs.choice.accepts;
  return report::kernel_tables(inputs.profile.timeline, options);
}

void print_reports(const ReportCommand& command, const report::Inputs& inputs) {
  const char* before = "";
  for (const std::string& name : command.outputs.reports) {
    if (command.format == "table") {
      print_data(before + as_table(name, inputs, command.kernels.value_or(0)));
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

model::Timeline load(const ReportCommand& command, const RunFiles& source) {
  model::RawEvaluator evaluator(command.cupti_path, command.metrics);
  return load_run(source, &evaluator);
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
  const auto [id, is_new] = store::add_aggregation(source.database, profile, advise::diagnosis_of(profile));
  const std::string name = printable(source.database.string());
  if (is_new) {
    say("dlkprof: {} shows aggregation {} now\n", name, id);
  } else {
    say("dlkprof: {} shows this already, as aggregation {}: nothing was added\n", name, id);
  }
}

// A database of what captures hold, beside the reports.
void write_database(const Outputs& outputs, const model::Profile& profile) {
  make_folder(outputs.directory);
  const fs::path path = database_file(outputs);
  store::write_database(path, profile, advise::diagnosis_of(profile));
  say("dlkprof: wrote {}\n", printable(path.string()));
}

void show(const ReportCommand& command, const report::Inputs& inputs) {
  const std::vector<std::string>& reports = command.outputs.reports;
  for (const fs::path& file : write_reports(command.outputs, inputs)) {
    say("dlkprof: wrote {}\n", printable(file.string()));
  }
  if (!command.to_files) print_reports(command, inputs);
  const bool told =
      !command.to_files && command.format == "table" && std::find(reports.begin(), reports.end(), "summary") != reports.end();
  if (!told) say_notices(inputs.profile.timeline);
  print_unmeasured(command, inputs);
  print_hints(reports, inputs);
}

}  // namespace

void check_stdout(const ReportCommand& command) {
  if (command.to_files || command.format == "table" || command.outputs.reports.size() <= 1) return;
  throw UsageError(fmt::format("stdout takes one report as {}", command.format), "",
                   fmt::format("Name one with --reports, or write files: --output_path . --formats {}", command.format));
}

int report_again(ReportCommand command) {
  const RunFiles source = run_files(command.file, command.outputs.base_name);
  const bool one_screen = wants_screen(command);
  if (!command.kernel_name.empty()) command.choice.accepts = name_filter(command.kernel_name);
  std::vector<std::string>& reports = command.outputs.reports;
  if (!one_screen) reports = default_reports(command, source);
  reports = report::report_names(reports, command.folding.simple());
  command.keeps = command.keeps && !command.folding.simple();
  command.outputs.database = command.keeps && !source.is_database();
  check_command(command);
  const cupti::Catalogue catalogue = load_catalogue();
  check_section_names(command, catalogue);
  const IgnoredSignal guard(SIGXFSZ);  // a file that may not grow (ulimit -f) is to be an error, not our end
  const model::Profile profile = analyse(load(command, source), command.folding);
  check_has_ops(reports, profile);
  check_metrics_measured(command.metrics, profile.timeline, catalogue, command.cupti_path);
  if (command.keeps && source.is_database()) keep(source, profile);
  if (command.outputs.database && profile.has_ops()) write_database(command.outputs, profile);
  const report::Page page{text_width(STDOUT_FILENO), is_styled(STDOUT_FILENO)};
  if (one_screen) {
    print_data(command.format == "markdown" ? report::screen_markdown(profile, command.file)
                                            : report::screen(profile, command.file, page));
    return 0;
  }
  report::Asked chosen = choose_sections(command, profile.timeline, catalogue);
  show(command, {.profile = profile,
                 .simple = command.folding.simple(),
                 .profile_name = command.outputs.base_name,
                 .sections = std::move(chosen.sections),
                 .metrics = std::move(chosen.metrics),
                 .unit_of = report::unit_lookup(catalogue, profile.timeline, command.cupti_path),
                 .choice = command.choice,
                 .page = page,
                 .by = group_by(command.by),
                 .sass = sass_for(reports, profile.timeline)});
  return 0;
}

}  // namespace dlkprof::cli
