// dlkprof view: one page of a run, or of several beside one another.

#include <CLI/CLI.hpp>
#include <string>

#include "cli/adding_options.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/verbs.h"
#include "cli/view_command.h"

namespace dlkprof::cli {
namespace {

bool parse_view(int argc, char** argv, ViewCommand& command) {
  CLI::App app(
      "Writes one page that shows a run or a job, or compares several runs, and opens it. The page holds all it needs: it opens "
      "from a file, "
      "by mail and offline, and sends nothing anywhere. No GPU is needed.",
      "dlkprof view");
  std::string directory;
  std::string serve;
  app.option_defaults()->group("Viewing");
  const auto add = adding_options(app);
  add("runs", command.files, "<file>",
      "1 to 8 captures (.dlkcap), databases (.sqlite) or folders with captures; the others are compared with the first. "
      "Or one job's database (dlkprof merge)")
      ->required();
  add("--labels", command.labels, "<label,label>", "Names of the runs, in order (default: the files' names)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--no-open", command.no_open, "Write the page and open no browser");
  app.add_flag(
         "--serve{0}", serve,
         "Serve the page on 127.0.0.1, on a port that is free or on this one, instead of writing it: for ssh -L, and for runs "
         "too large for a page")
      ->type_name("[=<port>]")
      ->check(whole_number(0, 65535));
  add("--output_path", directory, "<folder>", "Write the page to this folder");
  add("--base_name", command.base_name, "<name>", "What it is called, before .html (default: the first file's name)");
  app.add_flag("-f,--force", command.force, "Replace the file if it is there");
  add("--cupti-path", command.cupti_path, "<path>", "The libcupti to evaluate counters with, or its folder");
  add_folding(app, command.folding);
  if (parse(app, argc, argv).done) return false;
  check_cupti_path(command.cupti_path);
  if (!directory.empty()) command.directory = directory;
  if (!serve.empty()) command.port = static_cast<std::uint16_t>(std::stoul(serve));
  return true;
}

}  // namespace

int run_view(int argc, char** argv) {
  ViewCommand command;
  return parse_view(argc, argv, command) ? view_runs(command) : 0;
}

}  // namespace dlkprof::cli
