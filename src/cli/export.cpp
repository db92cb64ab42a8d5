// dlkprof export: a run as files of other tools.

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/new_file.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/adding_options.h"
#include "cli/analysis.h"
#include "cli/arguments.h"
#include "cli/ignored_signal.h"
#include "cli/installation.h"
#include "cli/jobs/job_export.h"
#include "cli/outputs.h"
#include "cli/run_loader.h"
#include "cli/verbs.h"
#include "export/formats.h"
#include "job/database.h"
#include "report/launches/reports.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStdout = "-";
// Arrays of events go back to the system when they are freed. Left to itself, glibc keeps those below 32 MB for later.
constexpr int kLargeArray = 1 << 20;  // bytes

struct ExportCommand {
  std::vector<std::string> files;
  std::string format, output;
  std::string base_name = "dlkprof";  // of captures in folders
  bool force = false;
  Folding folding;
};

std::string format_help() {
  std::string help = "What to write:";
  for (const exports::Format& format : exports::formats()) help += fmt::format(" {}: {};", format.name, format.what);
  help.back() = ' ';
  help.pop_back();
  return help;
}

bool parse_export(int argc, char** argv, ExportCommand& command) {
  CLI::App app("Writes runs as files of other tools. Tables for spreadsheets: dlkprof report --format csv. No GPU is needed.",
               "dlkprof export");
  app.option_defaults()->group("Exporting");
  const auto add = adding_options(app);
  add("runs", command.files, "<run>",
      "A capture (.dlkcap), a database (.sqlite) of a run or a job, or a folder with captures; perfetto takes several, such as "
      "the ranks of a job")
      ->required();
  add("--format", command.format, "<format>", format_help().c_str())->required()->check(one_of(exports::format_names()));
  add("-o,--output", command.output, "<file>",
      "The file to write, packed where its name ends in .gz; - for stdout (default: named after the run, in this folder)");
  add("--base_name", command.base_name, "<name>", "What the names of captures in folders begin with")->capture_default_str();
  app.add_flag("-f,--force", command.force, "Replace a file that is there");
  add_folding(app, command.folding);
  return !parse(app, argc, argv).done;
}

void check_command(const ExportCommand& command, const exports::Format& format) {
  check_folding(command.folding);
  if (command.files.size() > 1 && !format.takes_several) {
    throw UsageError(fmt::format("{} takes one run, and was given {}", format.name, command.files.size()), "",
                     "Export one after the other; --format perfetto takes several.");
  }
  if (format.write_file != nullptr && (command.output == kStdout || command.output.ends_with(".gz"))) {
    throw UsageError(fmt::format("{} is a database, and goes to a file that is not packed", format.name), "",
                     "Name one with --output.");
  }
  if (command.output == kStdout) {
    if (isatty(STDOUT_FILENO) == 1) {
      throw UsageError("a trace cannot be read on a terminal", "", "Name a file with --output, or send stdout somewhere.");
    }
    return;
  }
  check_output(command.output, command.files, command.force);
}

exports::Run as_run(const std::string& file, const model::Profile& profile, const cupti::Catalogue& catalogue) {
  return {&profile, valid_utf8(run_name(file)), report::unit_lookup(catalogue, profile.timeline)};
}

void check_has_something(const std::string& file, const model::Profile& profile, const exports::Format& format) {
  if (format.needs_ops && !profile.has_ops())
    throw Error(fmt::format("{} is of ops, and {} has none", format.name, printable(file)), "", kRecordOps);
  if (format.needs_counters && profile.timeline.measured_launches.empty()) {
    throw Error(fmt::format("{} is of measured launches, and {} has none", format.name, printable(file)), "",
                "Profile with --set basic, or with --section or --metrics.");
  }
}

void write_output(const ExportCommand& command, const std::function<void(const report::Sink& out)>& write) {
  const auto write_packed = [&](const report::Sink& sink) {
    command.output.ends_with(".gz") ? exports::pack_gzip(sink, write) : write(sink);
  };
  if (command.output == kStdout) {
    write_packed([](std::string_view piece) { print_data(std::string(piece)); });
  } else {
    write_pieces(command.output, command.force, write_packed);
  }
}

std::size_t write_runs(const ExportCommand& command, const exports::Format& format, const std::vector<exports::Run>& runs) {
  std::size_t untimed = 0;
  if (format.write_file != nullptr) {
    NewFile file(command.output);
    untimed = format.write_file(runs.front(), file.path()).untimed;
    file.flush_to_target(command.force);
    return untimed;
  }
  write_output(command, [&](const report::Sink& out) { untimed = format.write(runs, out).untimed; });
  return untimed;
}

bool exports_job(const ExportCommand& command, const exports::Format& format) {
  const auto is_job = [](const std::string& file) { return job::is_job_database(file); };
  const auto job = std::find_if(command.files.begin(), command.files.end(), is_job);
  if (job == command.files.end()) return false;
  if (command.files.size() > 1)
    throw UsageError("the database of a job is exported alone", "",
                     "Name it alone, or name captures and databases of its ranks.");
  if (command.folding.is_asked()) {
    throw UsageError("a job's database holds figures of ranks, which cannot be folded again", "",
                     "Leave out the options of folding, or name captures and databases of its ranks.");
  }
  if (format.write_job == nullptr) {
    throw UsageError(
        fmt::format("{} is of single launches, and {}, the database of a job, has none", format.name, printable(*job, 200)), "",
        "Export the captures or databases of its ranks one by one.");
  }
  return true;
}

void export_job(const ExportCommand& command, const exports::Format& format) {
  const exports::JobRun job = job_run_of(command.files.front(), valid_utf8(run_name(command.files.front())));
  write_output(command, [&](const report::Sink& out) { format.write_job(job, out); });
}

void say_what_is_missing(std::size_t untimed) {
  if (untimed == 0) return;
  say("dlkprof: left out {} launches that have no time on the GPU, as they were being measured then\n", untimed);
}

std::size_t export_runs(const ExportCommand& command, const exports::Format& format) {
  const cupti::Catalogue catalogue = load_catalogue();
  std::vector<model::Profile> profiles;
  profiles.reserve(command.files.size());
  std::vector<exports::Run> runs;
  for (const std::string& file : command.files) {
    profiles.push_back((format.needs_ops ? analyse : place)(load_run(run_files(file, command.base_name)), command.folding));
    say_notices(profiles.back().timeline, command.files.size() > 1 ? file : "");
    check_has_something(file, profiles.back(), format);
    runs.push_back(as_run(file, profiles.back(), catalogue));
  }
  return write_runs(command, format, runs);
}

}  // namespace

int run_export(int argc, char** argv) {
  ExportCommand command;
  if (!parse_export(argc, argv, command)) return 0;
  const exports::Format& format = *exports::find_format(command.format);
  if (command.output.empty()) command.output = run_name(command.files.front()) + format.extension;
  check_command(command, format);
  const IgnoredSignal guard(SIGXFSZ);  // as in report_again()
  mallopt(M_MMAP_THRESHOLD, kLargeArray);
  std::size_t untimed = 0;
  if (exports_job(command, format))
    export_job(command, format);
  else
    untimed = export_runs(command, format);
  if (command.output != kStdout) say("dlkprof: wrote {}: {}\n", printable(command.output), format.open_with);
  say_what_is_missing(untimed);
  return 0;
}

}  // namespace dlkprof::cli
