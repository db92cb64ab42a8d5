#include "cli/compare/compare_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <system_error>

#include "advise/compare/compare_runs.h"
#include "advise/run_figures.h"
#include "base/error.h"
#include "base/say.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/captures.h"
#include "cli/compare/gate.h"
#include "cli/ignored_signal.h"
#include "cli/installation.h"
#include "cli/outputs.h"
#include "cli/run_loader.h"
#include "job/compare/compare_jobs_report.h"
#include "model/fold/places.h"
#include "report/compare/compare_report.h"
#include "report/compare/compare_view.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOpsOnTerminal = 15;  // two screens

void check_count(const CompareCommand& command) {
  const std::size_t runs = command.files.size();
  if (runs < kLeastRuns || runs > kMostRuns) {
    throw UsageError(fmt::format("compare takes {} to {} runs, and was given {}", kLeastRuns, kMostRuns, runs), "",
                     "Name captures, databases or folders with captures; the others are compared with the first.");
  }
  const auto check_list = [runs](const char* option, std::size_t given) {
    if (given == 0 || given == runs) return;
    throw UsageError(fmt::format("{} has {} values for {} runs", option, given, runs), "",
                     "Give one for each run, in their order.");
  };
  check_list("--labels", command.labels.size());
  for (auto label = command.labels.begin(); label != command.labels.end(); ++label) {
    if (std::find(command.labels.begin(), label, *label) == label) continue;
    throw UsageError(fmt::format("--labels: two runs are called {}", printable(*label, 80)), "",
                     "Give each run a label of its own.");
  }
  check_list("--batch_sizes", command.batch_sizes.size());
  if (command.folding.simple()) {
    throw UsageError("simple mode has neither ops nor iterations", "", "Leave out --mode=simple.");
  }
  check_folding(command.folding);
}

std::vector<std::string> labels_of(const CompareCommand& command) {
  std::vector<std::string> labels = command.labels;
  if (labels.empty()) std::transform(command.files.begin(), command.files.end(), std::back_inserter(labels), run_name);
  for (std::string& label : labels) label = valid_utf8(label);
  return advise::unique_labels(std::move(labels));
}

advise::RunFigures figures_of(const CompareCommand& command, const std::string& file, model::Profile profile) {
  say_notices(profile.timeline, file);
  const model::IterationRange& asked = command.folding.range;
  const auto end = static_cast<std::uint32_t>(profile.fold.iterations.size() - 1);
  std::uint32_t& first = profile.aggregate.first_iteration;
  std::uint32_t& last = profile.aggregate.last_iteration;
  if (asked.is_asked()) {
    first = asked.start.value_or(0);
    last = asked.stop.value_or(end);
  }
  if (first > end || last > end) {
    throw UsageError(fmt::format("{} has no iteration {}", printable(file), std::max(first, last)), "",
                     fmt::format("It has 0 to {}.", end));
  }
  if (!asked.kind.empty()) {
    profile.aggregate.kind = model::find_kind(profile.fold, asked.kind);
    bool any = false;
    for (std::uint32_t i = first; i <= last; ++i) any = any || profile.aggregate.has(profile.fold, i);
    if (!any)
      throw UsageError(fmt::format("{}: iterations {} to {} have none of that kind", printable(file), first, last), "--iter_kind",
                       "Give others with --iter_start and --iter_stop.");
  }
  return advise::figures_of(profile);
}

// Databases are folded again only where the folding that they hold is not the one asked for.
advise::RunFigures load_figures(const CompareCommand& command, const std::string& file) {
  const model::FoldOptions& options = command.folding.fold;
  const bool folds = !options.key_node.empty() || !options.domains.empty();
  const RunFiles files = run_files(file, command.base_name);
  if (files.is_database() && !folds) {
    model::Profile stored = store::read_stored_run(files.database);
    if (!command.gate.empty()) store::name_launch_calls(files.database, stored.timeline);
    return figures_of(command, file, std::move(stored));
  }
  model::Profile profile;
  profile.timeline = load_run(files);
  say_unknown_domains(profile.timeline, options.domains, file);
  profile.fold = model::fold(profile.timeline, options);
  const model::SteadyRange steady = model::find_steady_range(profile.fold);
  profile.aggregate.first_iteration = steady.first;
  profile.aggregate.last_iteration = steady.last;
  return figures_of(command, file, std::move(profile));
}

advise::ComparedRuns load_runs(const CompareCommand& command) {
  const std::vector<std::string> labels = labels_of(command);
  std::vector<advise::RunFigures> runs;
  for (std::size_t i = 0; i < command.files.size(); ++i) {
    advise::RunFigures& run = runs.emplace_back(load_figures(command, command.files[i]));
    run.label = labels[i];
    if (command.batch_sizes.empty()) continue;
    run.batch_size = command.batch_sizes[i];
    run.batch_size_recorded = false;
  }
  return advise::compare_all(std::move(runs));
}

// The formats of a comparison, of runs or of jobs.
template <typename Tables, typename View>
std::string formatted(const std::string& format, Tables tables, View view) {
  if (format == "csv") return report::compare_csv(tables());
  if (format == "json") return report::compare_json(tables());
  return report::compare_text(view(), {text_width(STDOUT_FILENO), is_styled(STDOUT_FILENO)});
}

using Formatted = std::function<std::string(const std::string& format)>;

std::vector<fs::path> files_of(const CompareCommand& command) {
  std::vector<fs::path> files;
  for (const std::string& format : command.formats)
    files.push_back(command.directory / fmt::format("{}_compare.{}", command.base_name, format));
  return files;
}

}  // namespace

void check_comparison_files(const CompareCommand& command) {
  check_files(command.directory, command.base_name, files_of(command), command.force);
}

void remove_comparison_files(const CompareCommand& command) {
  if (!command.force) return;
  std::error_code ignored;
  for (const fs::path& file : files_of(command)) {
    if (!fs::is_directory(fs::symlink_status(file, ignored))) fs::remove(file, ignored);
  }
}

namespace {

void write_comparison(const CompareCommand& command, const Formatted& formatted) {
  if (!command.to_files) {
    print_data(formatted(command.format));
    return;
  }
  make_folder(command.directory);
  const std::vector<fs::path> files = files_of(command);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string text = formatted(command.formats[i]);
    write_pieces(files[i], command.force, [&text](const report::Sink& sink) { sink(text); });
    say("dlkprof: wrote {}\n", printable(files[i].string()));
  }
}

template <typename Pairs, typename PartOf>
int end_with_gate(const std::vector<advise::GateRule>& gate, const Pairs& pairs, PartOf comparison_of) {
  std::vector<const advise::Comparison*> all;
  for (const auto& pair : pairs) all.push_back(&comparison_of(pair));
  return apply_gate(gate, all);
}

// Whether the databases of jobs are compared. Throws UsageError where only some are of jobs.
bool compares_jobs(const CompareCommand& command) {
  std::string job, run;
  for (const std::string& file : command.files) (job::is_job_database(file) ? job : run) = file;
  if (job.empty()) return false;
  if (!run.empty()) (void)run_files(run, command.base_name);  // which says what is wrong with it
  if (!run.empty()) {
    throw UsageError(
        fmt::format("a job cannot be compared with a run: {} is of a job, and {} is not", printable(job, 200),
                    printable(run, 200)),
        "",
        "Name the databases of jobs alone, or a capture or database of one rank of each. dlkprof merge makes a job of ranks.");
  }
  if (command.folding.is_asked() || !command.batch_sizes.empty())
    throw UsageError("a job's database holds figures of ranks, which cannot be folded again", "",
                     "Leave out the options of folding and --batch_sizes.");
  return true;
}

int compare_job_files(const CompareCommand& command, const std::vector<advise::GateRule>& gate) {
  const std::vector<std::string> labels = labels_of(command);
  std::vector<job::LabelledJob> jobs;
  for (std::size_t i = 0; i < command.files.size(); ++i) jobs.push_back({labels[i], command.files[i]});
  const job::ComparedJobs compared = job::compare_jobs(jobs, !gate.empty());
  write_comparison(command, [&compared](const std::string& format) {
    return formatted(
        format, [&] { return job::compare_jobs_tables(compared); },
        [&] { return job::compare_jobs_view(compared, kOpsOnTerminal); });
  });
  return end_with_gate(gate, compared.pairs,
                       [](const job::JobComparison& pair) -> const advise::Comparison& { return pair.figures; });
}

}  // namespace

int compare_runs(const CompareCommand& command) {
  check_count(command);
  check_comparison_files(command);
  const bool of_jobs = compares_jobs(command);
  const IgnoredSignal guard(SIGXFSZ);  // as in report_again()
  const std::vector<advise::GateRule> gate = command.gate.empty() ? std::vector<advise::GateRule>() : load_gate(command.gate);
  if (of_jobs) return compare_job_files(command, gate);
  const advise::ComparedRuns compared = load_runs(command);
  write_comparison(command, [&compared](const std::string& format) {
    return formatted(
        format, [&] { return report::compare_tables(compared); }, [&] { return report::compare_view(compared, kOpsOnTerminal); });
  });
  return end_with_gate(gate, compared.pairs, [](const advise::Comparison& pair) -> const advise::Comparison& { return pair; });
}

}  // namespace dlkprof::cli
