// dlkprof merge: the ranks of a job as one database.

#include <CLI/CLI.hpp>
#include <string>

#include "cli/adding_options.h"
#include "cli/arguments.h"
#include "cli/jobs/merge_command.h"
#include "cli/verbs.h"

namespace dlkprof::cli {

int run_merge(int argc, char** argv) {
  constexpr std::uint64_t kMostThreads = 1024;
  CLI::App app(
      "Merges the ranks of a job into one database, which dlkprof report shows. What was merged can be merged again, in any "
      "order. No GPU is needed.",
      "dlkprof merge");
  MergeCommand command;
  std::string output;
  app.option_defaults()->group("Merging");
  const auto add = adding_options(app);
  add("files", command.files, "<file>",
      "Captures (.dlkcap) or databases (.sqlite) of ranks, databases that merge wrote, or folders with them")
      ->required();
  add("-o,--output", output, "<file>", "The database to write (default: job_dldb.sqlite)");
  add("--engine", command.engine, "<engine>",
      "local: the cores of this machine; dask: the workers of Dask Distributed (python3-distributed)")
      ->check(one_of({"local", "dask"}))
      ->capture_default_str();
  add("--scheduler", command.scheduler, "<address>",
      "Dask's scheduler, as tcp://host:8786; its workers must see the same files (default: two workers on this machine)");
  add("--python", command.python, "<path>", "The Python that has Dask Distributed")->capture_default_str();
  add("--threads", command.threads, "<n>", "Fold n captures at once (default: all cores)")->check(whole_number(1, kMostThreads));
  app.add_flag("-f,--force", command.force, "Replace the database if it is there");
  if (parse(app, argc, argv).done) return 0;
  if (!output.empty()) command.output = output;
  return merge_ranks(command);
}

}  // namespace dlkprof::cli
