#include "cli/jobs/merge_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/say.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "cli/analysis.h"
#include "cli/captures.h"
#include "cli/installation.h"
#include "cli/outputs.h"
#include "cli/run_loader.h"
#include "job/merge.h"
#include "job/rank_events.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// One line that stays in place on a terminal, and ten elsewhere.
class CountLine {
 public:
  explicit CountLine(const char* what) : what_(what), terminal_(isatty(STDERR_FILENO) != 0) {}
  void show(std::size_t done, std::size_t all) {
    constexpr std::size_t kFew = 32, kLines = 10;
    if (all < kFew && !terminal_) return;
    const std::size_t step = terminal_ ? 1 : all / kLines;
    if (done != all && done % step != 0) return;
    say("{}dlkprof: {} {} of {}{}", terminal_ ? "\r" : "", what_, done, all, terminal_ && done != all ? "" : "\n");
  }

 private:
  const char* what_;
  bool terminal_;
};

// Folds files at once, each into a job's database of its own.
class Folder {
 public:
  Folder(const std::vector<fs::path>& files, const TemporaryFolder& parts) : files_(files), parts_(parts), jobs_(files.size()) {}

  void run(std::size_t threads) {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::min(threads, files_.size()); ++i) workers.emplace_back([this] { work(); });
    for (std::thread& worker : workers) worker.join();
  }
  [[nodiscard]] std::vector<fs::path> jobs() const {
    std::vector<fs::path> all;
    std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(all), [](const fs::path& job) { return !job.empty(); });
    return all;
  }
  // Which file a job's database was made from.
  [[nodiscard]] std::string source_of(const std::string& job) const {
    const auto found = std::find(jobs_.begin(), jobs_.end(), fs::path(job));
    return found == jobs_.end() ? job : files_[static_cast<std::size_t>(found - jobs_.begin())].native();
  }
  [[nodiscard]] const std::set<std::string>& failures() const { return failures_; }
  [[nodiscard]] std::size_t without_gpu() const { return without_gpu_; }

 private:
  void work();
  [[nodiscard]] fs::path fold(std::size_t file);

  const std::vector<fs::path>& files_;
  const TemporaryFolder& parts_;  // a database each
  std::vector<fs::path> jobs_;    // a file each; empty: none came of it
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // of what follows
  std::set<std::string> failures_;
  std::size_t without_gpu_ = 0, done_ = 0;
  CountLine line_{"folded"};
};

void Folder::work() {
  for (std::size_t file = next_++; file < files_.size(); file = next_++) {
    fs::path job;
    std::string failure;
    try {
      job = fold(file);
    } catch (const Error& error) {
      failure = error.message();
    } catch (const std::exception& error) {  // out of memory: the others may be smaller
      failure = printable(files_[file].native(), 200) + ": " + error.what();
    }
    const std::lock_guard lock(mutex_);
    if (!failure.empty())
      failures_.insert(std::move(failure));
    else if (job.empty())
      ++without_gpu_;
    jobs_[file] = std::move(job);
    line_.show(++done_, files_.size());
  }
}

fs::path Folder::fold(std::size_t file) {
  if (job::is_job_database(files_[file])) return files_[file];
  const RunFiles run = run_files(files_[file], "");
  const std::vector<job::Rank> ranks = job::ranks_of(analyse(load_run(run), {}));
  if (ranks.empty()) return {};
  fs::path part = parts_.path() / fmt::format("{}.sqlite", file);
  job::write_job(part, ranks);
  return part;
}

bool is_capture_file(const fs::path& path) { return path.extension() == ".dlkcap"; }

// Symbolic links to folders are not followed: they may lead round in a circle.
void add_folder(const fs::path& folder, const fs::path& output, std::set<fs::path>& files) {
  std::vector<fs::path> captures, databases;
  std::error_code failure;
  auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (!entry->is_regular_file(ignored) || fs::equivalent(path, output, ignored)) continue;
    if (is_capture_file(path)) captures.push_back(path);
    if (path.extension() == ".sqlite") (job::is_job_database(path) ? captures : databases).push_back(path);
  }
  if (captures.empty()) captures = std::move(databases);
  if (captures.empty()) {
    throw UsageError("there are no captures and no databases in " + printable(folder.string()), failure ? failure.message() : "",
                     "Name the folder that the ranks' captures (.dlkcap) were written to.");
  }
  files.insert(captures.begin(), captures.end());
}

int on_dask(const MergeCommand& command) {
  std::vector<std::string> words{command.python, (share_folder() / "python" / "merge_on_dask.py").native(),
                                 "--dlkprof",    fs::read_symlink("/proc/self/exe").native(),
                                 "--output",     command.output.native()};
  if (!command.scheduler.empty()) words.insert(words.end(), {"--scheduler", command.scheduler});
  if (command.force) words.emplace_back("--force");
  words.emplace_back("--");
  for (const fs::path& file : rank_files(command.files, command.output)) words.push_back(fs::absolute(file).native());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw Error("cannot start " + printable(command.python), std::generic_category().message(errno),
              "Install Python and Dask Distributed (Debian: python3-distributed), or leave out --engine dask.");
}

void say_merged(job::Merged merged, const Folder& folder, const fs::path& output) {
  for (std::string& file : merged.given_twice) file = folder.source_of(file);
  for (const std::string& failure : folder.failures()) say("dlkprof: left out: {}\n", failure);
  for (const std::string& line : job::warnings_of(merged)) say("dlkprof: {}\n", line);
  if (folder.without_gpu() > 0)
    say("dlkprof: {} files were left out, as their processes used no GPU in any iteration\n", folder.without_gpu());
  say("dlkprof: wrote {}, {} ranks\n", printable(output.string()), merged.ranks);
}

}  // namespace

std::vector<fs::path> rank_files(const std::vector<std::string>& files, const fs::path& output) {
  std::set<fs::path> all;
  for (const std::string& file : files) {
    std::error_code failure;
    if (fs::is_directory(file, failure)) {
      add_folder(file, output, all);
    } else if (fs::exists(file, failure)) {
      all.insert(file);
    } else {
      throw UsageError("there is no file " + printable(file, 200), "", "Name captures, databases or folders with them.");
    }
  }
  return {all.begin(), all.end()};
}

int merge_ranks(const MergeCommand& command) {
  check_output(command.output, command.files, command.force);
  if (command.engine == "dask") return on_dask(command);
  if (!command.scheduler.empty()) throw UsageError("--scheduler is of Dask", "", "Say --engine dask, or leave it out.");
  const std::vector<fs::path> files = rank_files(command.files, command.output);
  const TemporaryFolder parts;
  Folder folder(files, parts);
  folder.run(command.threads != 0 ? command.threads : std::max(1U, std::thread::hardware_concurrency()));
  const std::vector<fs::path> jobs = folder.jobs();
  if (jobs.empty()) {
    throw Error("there is no rank to merge", folder.failures().empty() ? "no process used a GPU" : *folder.failures().begin(),
                "Give captures, databases or folders of the ranks of a job.");
  }
  CountLine line("merged");
  job::Merged merged =
      job::merge_jobs(jobs, command.output, [&line](std::size_t done, std::size_t all) { line.show(done, all); });
  say_merged(std::move(merged), folder, command.output);
  return 0;
}

}  // namespace dlkprof::cli
