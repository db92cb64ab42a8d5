// What comes after collection, stage by stage, over made-up PyTorch programs of 5 ranges a launch. Items are launches;
// peak_MiB is the most memory that was resident while the stage ran, what it works on included. What is to hold: `all` of
// 1 000 000 launches in less than 20 s and 1000 MiB on 2 cores, and of 10 000 000, which are added where the environment has
// DLKPROF_BENCH_LARGEST (8 GiB of memory, 25 GiB on disk), in less than 12 times that.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/analysis.h"
#include "cli/outputs.h"
#include "report/registry.h"
#include "store/database.h"
#include "support/made_up_run.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "dlkprof_bench_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

model::Timeline load(const std::filesystem::path& capture) { return model::load_timeline({&capture, 1}); }

void write(const std::filesystem::path& path, const model::Profile& made) { store::write_database(path, made); }

// All of --reports=all, as csv and json.
auto report(const std::filesystem::path& folder, const model::Profile& made) {
  const cli::Outputs outputs{
      .directory = folder, .reports = report::report_names({"all"}, false), .formats = {"csv", "json"}, .force = true};
  return cli::write_reports(outputs, {.profile = made, .profile_name = "made_up"});
}

// What the stages work on, made when first asked for. Kept for one size of program at a time.
class Inputs {
 public:
  explicit Inputs(std::uint32_t launches) : launches_(launches) {}

  [[nodiscard]] std::uint32_t launches() const { return launches_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path new_database() const { return folder() / "new.sqlite"; }

  const std::filesystem::path& capture() {
    if (capture_.empty()) capture_ = test::write_made_up_run(folder_.path(), test::made_up_run_of(launches_));
    return capture_;
  }
  const model::Profile& profile() {
    if (!profile_) profile_ = cli::analyse(load(capture()), {});
    return *profile_;
  }
  const std::filesystem::path& database() {
    if (database_.empty()) {
      database_ = folder_.path() / "run.sqlite";
      write(database_, profile());
    }
    return database_;
  }
  // Leaves the files.
  void drop_memory() { profile_.reset(); }

 private:
  std::uint32_t launches_;
  Folder folder_;
  std::filesystem::path capture_, database_;
  std::optional<model::Profile> profile_;
};

Inputs& inputs(std::int64_t launches) {
  static std::optional<Inputs> current;
  const auto wanted = static_cast<std::uint32_t>(launches);
  if (!current || current->launches() != wanted) current.emplace(wanted);
  return *current;
}

// Linux counts anew from here (proc(5), /proc/pid/clear_refs).
void restart_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

double peak_mebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (double kibibytes = 0; word == "VmHWM:" && status >> kibibytes) return kibibytes / 1024;
  }
  return 0;
}

// Runs a stage; its inputs are there by now.
void measure(benchmark::State& state, const auto& stage) {
  restart_peak();
  for (auto _ : state) benchmark::DoNotOptimize(stage());
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["peak_MiB"] = peak_mebibytes();
}

void load_timeline(benchmark::State& state) {
  Inputs& in = inputs(state.range(0));
  in.drop_memory();
  const std::filesystem::path& capture = in.capture();
  measure(state, [&] { return load(capture); });
}

void fold(benchmark::State& state) {
  const model::Timeline& timeline = inputs(state.range(0)).profile().timeline;
  measure(state, [&] { return model::fold(timeline); });
}

void aggregate(benchmark::State& state) {
  const model::Profile& made = inputs(state.range(0)).profile();
  measure(state, [&] { return model::aggregate(made.timeline, made.fold); });
}

void write_database(benchmark::State& state) {
  Inputs& in = inputs(state.range(0));
  const model::Profile& made = in.profile();
  measure(state, [&] {
    write(in.new_database(), made);
    return 0;
  });
  state.counters["file_MiB"] = static_cast<double>(std::filesystem::file_size(in.new_database())) / (1U << 20U);
}

void write_reports(benchmark::State& state) {
  Inputs& in = inputs(state.range(0));
  const model::Profile& made = in.profile();
  measure(state, [&] { return report(in.folder(), made); });
}

void read_timeline(benchmark::State& state) {
  Inputs& in = inputs(state.range(0));
  const std::filesystem::path& database = in.database();
  in.drop_memory();
  measure(state, [&] { return store::read_timeline(database); });
}

// What `dlkprof` does once the program has ended.
void all(benchmark::State& state) {
  Inputs& in = inputs(state.range(0));
  in.drop_memory();
  const std::filesystem::path& capture = in.capture();
  measure(state, [&] {
    const model::Profile made = cli::analyse(load(capture), {});
    const std::future<void> database = std::async(std::launch::async, [&] { write(in.new_database(), made); });
    return report(in.folder(), made);
  });
  constexpr std::int64_t kHeldFor = 1'000'000;
  constexpr double kMostMebibytes = 1000;
  if (state.range(0) == kHeldFor && state.counters["peak_MiB"] > kMostMebibytes) state.SkipWithError("more than 1000 MiB");
}

// All stages of one size before those of the next, since they share their inputs.
const bool kRegistered = [] {
  for (const std::int64_t launches : {10'000, 100'000, 1'000'000}) {
    const auto add = [&](const char* name, void (*stage)(benchmark::State&)) {
      benchmark::RegisterBenchmark(name, stage)->Arg(launches)->Unit(benchmark::kMillisecond);
    };
    add("load_timeline", load_timeline);
    add("fold", fold);
    add("aggregate", aggregate);
    add("write_database", write_database);
    add("write_reports", write_reports);
    add("read_timeline", read_timeline);
    add("all", all);
  }
  if (std::getenv("DLKPROF_BENCH_LARGEST") != nullptr) {
    benchmark::RegisterBenchmark("all", all)->Arg(10'000'000)->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
