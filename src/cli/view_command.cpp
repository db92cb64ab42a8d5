#include "cli/view_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>

#include "advise/compare/compare_runs.h"
#include "advise/diagnosis.h"
#include "advise/run_figures.h"
#include "base/error.h"
#include "base/new_file.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/captures.h"
#include "cli/ignored_signal.h"
#include "cli/installation.h"
#include "cli/outputs.h"
#include "cli/run_loader.h"
#include "cli/sass.h"
#include "job/database.h"
#include "job/page_views.h"
#include "model/timeline/raw_counters.h"
#include "report/compare/compare_view.h"
#include "store/database.h"
#include "view/page.h"
#include "view/server.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

bool is_of_job(const ViewCommand& command) { return job::is_job_database(command.files.front()); }

void check_job_view(const ViewCommand& command) {
  if (command.files.size() > 1) {
    throw UsageError("the database of a job is shown alone", "",
                     "Name it alone, or name captures and databases of runs only. dlkprof compare shows jobs side by side.");
  }
  if (command.folding.is_asked())
    throw UsageError("a job's database holds figures of ranks, which cannot be folded again", "",
                     "Leave out the options of folding.");
}

void check_view(const ViewCommand& command) {
  const std::size_t runs = command.files.size();
  if (runs > kMostRunsSeen) {
    throw UsageError(fmt::format("view takes 1 to {} runs, and was given {}", kMostRunsSeen, runs), "",
                     "Name captures, databases or folders with captures.");
  }
  if (!command.labels.empty() && command.labels.size() != runs) {
    throw UsageError(fmt::format("--labels has {} values for {} runs", command.labels.size(), runs), "",
                     "Give one for each run, in their order.");
  }
  check_folding(command.folding);
  if (is_of_job(command)) check_job_view(command);
  view::check_has_page();
}

// A run that is to be seen, with its database: its own, or one made for the time of seeing it.
struct SeenRun {
  model::Profile profile;
  std::unique_ptr<NewFile> temporary;
  fs::path database;
};

// One of several runs may lack what is asked for: the error says which.
model::Profile analyse_asked(const ViewCommand& command, const fs::path& file, model::Timeline timeline) {
  try {
    return analyse(std::move(timeline), command.folding);
  } catch (const UsageError& error) {
    if (command.files.size() == 1) throw;
    throw UsageError(fmt::format("{}: {}", printable(file.native()), error.what()), error.detail(), error.remedy());
  }
}

// As its newest aggregation was folded, where nothing else is asked for.
SeenRun seen_database(const ViewCommand& command, const fs::path& path) {
  if (command.folding.is_asked()) return {analyse_asked(command, path, store::read_timeline(path)), nullptr, {}};
  const model::Profile stored = store::read_stored_run(path);
  Folding folding;
  folding.fold = stored.options;
  folding.range = stored.range;
  return {analyse(store::read_timeline(path), folding), nullptr, path};
}

SeenRun see(const ViewCommand& command, const std::string& file) {
  const RunFiles files = run_files(file, command.base_name.empty() ? "dlkprof" : command.base_name);
  SeenRun run;
  if (files.is_database()) {
    run = seen_database(command, files.database);
  } else {
    model::RawEvaluator evaluator(command.cupti_path, {});
    run.profile = analyse_asked(command, file, model::load_timeline(files.captures, &evaluator));
  }
  if (!run.database.empty()) return run;
  run.temporary = std::make_unique<NewFile>(fs::temp_directory_path() / "dlkprof_view_dldb.sqlite");
  run.database = run.temporary->path();
  store::write_database(run.database, run.profile, advise::diagnosis_of(run.profile));
  return run;
}

std::vector<std::string> labels_of_view(const ViewCommand& command) {
  std::vector<std::string> labels = command.labels;
  if (labels.empty()) std::transform(command.files.begin(), command.files.end(), std::back_inserter(labels), run_name);
  for (std::string& label : labels) label = valid_utf8(label);
  return advise::unique_labels(std::move(labels));
}

std::vector<view::RunCopy> copy_of_job(const std::string& file, const std::string& label) {
  const job::JobAnalysis job = job::analyse_job(file);
  job::PageViews page;
  std::vector<view::RunCopy> copies;
  copies.emplace_back(label, [&](store::Connection& connection) { page = job::write_page_views(connection, file, job); });
  copies.front().describe(std::move(page.views), std::move(page.notices));
  return copies;
}

std::vector<view::RunCopy> copies_of(const ViewCommand& command) {
  const std::vector<std::string> labels = labels_of_view(command);
  if (is_of_job(command)) return copy_of_job(command.files.front(), labels.front());
  const cupti::Catalogue catalogue = load_catalogue();
  std::vector<view::RunCopy> copies;
  std::vector<advise::RunFigures> figures;
  for (std::size_t i = 0; i < command.files.size(); ++i) {
    const SeenRun run = see(command, command.files[i]);
    copies.emplace_back(view::Run{labels[i], run.database, &run.profile, sass_of(run.profile.timeline)}, catalogue);
    if (command.files.size() > 1) figures.push_back(advise::figures_of(run.profile));
    if (command.files.size() > 1) figures.back().label = labels[i];
  }
  for (std::size_t i = 1; i < figures.size(); ++i)
    copies.front().add_changes(i, report::compare_view(advise::compare_all({figures.front(), figures[i]}), 0));
  return copies;
}

// Where somebody sits before a screen. The browser outlives us, and keeps to itself what it has to say.
bool open_in_browser(std::string place) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = "xdg-open";
  const std::array<char*, 3> arguments{program.data(), place.data(), nullptr};
  pid_t process = 0;
  const int failure = posix_spawnp(&process, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0;
}

}  // namespace

namespace {

// The copies are gone from the disk as soon as they are open: nothing is left, however we end.
int serve_runs(const ViewCommand& command) {
  std::vector<view::RunCopy> copies = copies_of(command);
  std::vector<fs::path> databases;
  std::transform(copies.begin(), copies.end(), std::back_inserter(databases), [](const auto& copy) { return copy.path(); });
  const std::string token = view::random_token();
  view::Server server(*command.port, {token, view::served_page(copies), view::Questions(databases)});
  copies.clear();
  const std::string address = fmt::format("http://127.0.0.1:{}/{}/", server.port(), token);
  say("dlkprof: serving until Ctrl-C, for this machine alone. From another one: ssh -L {0}:127.0.0.1:{0} <this machine>\n",
      server.port());
  print_data(address + "\n");
  if (!command.no_open && open_in_browser(address)) say("dlkprof: opened it in the browser\n");
  server.run();
  return 0;
}

}  // namespace

int view_runs(const ViewCommand& command) {
  check_view(command);
  if (command.port) return serve_runs(command);
  const std::string name = command.base_name.empty() ? run_name(command.files.front()) : command.base_name;
  const fs::path page = command.directory / (name + ".html");
  check_files(command.directory, name, {page}, command.force);
  const IgnoredSignal guard(SIGXFSZ);  // as in report_again()
  std::vector<view::RunCopy> copies = copies_of(command);
  make_folder(command.directory);
  write_pieces(page, command.force,
               [&copies](const report::Sink& sink) { view::write_page(copies, view::kMostPageBytes, sink); });
  say("dlkprof: wrote {}\n", printable(page.string()));
  if (!command.no_open && open_in_browser(fs::absolute(page).native())) say("dlkprof: opened it in the browser\n");
  return 0;
}

}  // namespace dlkprof::cli
