// What windows of passes would take for launches that were recorded: window_schedule <capture>... Drives PassScheduler with the
// launches of each capture in their order, as --set basic has them, and prints after which step 99 % of the GPU time had all
// passes, how many windows that took and how long, and the same at the end. Which pass is chosen hangs on what windows take, and
// that differs from run to run: each capture is gone through kRuns times, with prices of windows up to a fifth more or less.
// Where there are collectives, also what windows take for kRanks ranks, each on a host of its own, that wait for one another
// there, where each goes by what its windows took, and where all go by the same prices. Constants of pass_scheduler.cpp were
// chosen by it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/collective_kernel.h"
#include "cupti/collection_prices.h"
#include "inject/replay/pass_scheduler.h"
#include "inject/replay/pass_windows.h"
#include "model/fold/fold.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline.h"

namespace dlkprof {
namespace {

using inject::PassScheduler;

constexpr std::size_t kMostSamples = 46;  // of a window, with 300 MB
constexpr std::uint64_t kOften = 20;      // launches
constexpr unsigned kRuns = 27, kRanks = 8;
constexpr double kMs = 1e6, kSampleMs = 1.11;  // with what closing takes for each launch
// Opening and closing a window, H100, CUDA 13.0 (results/2026-11-26-h100/sums.md): quick, then the 15 passes of basic.
constexpr double kQuickSampleMs = 0.052, kQuickWindowMs = 35;
constexpr double kWindowMs[] = {49, 43, 18, 18, 18, 18, 2.8, 2.8, 2.8, 2.8, 25, 2.8, 2.8, 2.8, 2.8};

std::vector<PassScheduler::Price> prices() {
  std::vector<PassScheduler::Price> all{{kQuickSampleMs * kMs, kQuickWindowMs * kMs}};
  for (const double ms : kWindowMs) all.push_back({kSampleMs * kMs, ms * kMs});
  return all;
}

// As PassWindows has them before it has opened any.
std::vector<PassScheduler::Price> prices_beforehand() {
  std::vector<PassScheduler::Price> all{inject::price_of(cupti::kHwpmPrices)};
  all.resize(1 + std::size(kWindowMs), inject::price_of(cupti::kPerSmPrices));
  return all;
}

struct Launch {
  std::uint64_t index = 0;
  std::uint32_t config = 0, step = 0;
  double gpu_ns = 0;  // 0: not timed
  bool collective = false;
};

std::vector<Launch> launches_of(const std::filesystem::path& capture) {
  const model::Timeline timeline = model::load_timeline(std::vector<std::filesystem::path>{capture});
  const model::Fold fold = model::fold(timeline);
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const model::Activity& activity = timeline.activities[i];
    if (activity.config == model::kNone || activity.in_graph || activity.launch_index == capture::kNoLaunch) continue;
    launches.push_back({activity.launch_index, activity.config, fold.activity_iteration[i],
                        static_cast<double>(model::gpu_ns(activity)),
                        is_collective_kernel(timeline.kernels[activity.kernel].mangled)});
  }
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) { return a.index < b.index; });
  return launches;
}

struct Result {
  double all_after = 0;  // steps; infinite: never
  double seconds = 0, windows = 0;
  double often_pct = 0;  // of the GPU time of configurations that were launched often
};

class Simulation {
 public:
  // `learns`: what windows take.
  Simulation(const std::vector<Launch>& launches, unsigned seed, bool learns)
      : launches_(launches),
        random_(seed),
        learns_(learns),
        scheduler_(learns ? prices_ : prices_beforehand(), kMostSamples, true) {
    for (const Launch& launch : launches) {
      if (launch.collective) continue;
      gpu_ns_[launch.config] += launch.gpu_ns;
      ++counts_[launch.config];
    }
  }

  void run() {
    for (const Launch& launch : launches_) {
      if (launch.step != step_ && !all_after_ && complete_share(1) >= kNearlyAll) all_after_ = steps_;
      steps_ += launch.step != step_ ? 1 : 0;
      step_ = launch.step;
      if (launch.collective) {
        spent_at_collectives_.push_back(spent_ns_);
      } else {
        see(launch.config);
      }
    }
    close();
  }
  // On windows, in ns, until each.
  [[nodiscard]] const std::vector<double>& spent_at_collectives() const noexcept { return spent_at_collectives_; }
  // Per cent of the GPU time of configurations that were launched so often.
  [[nodiscard]] double complete_share(std::uint64_t least) const {
    double all = 0, complete = 0;
    for (const auto& [config, ns] : gpu_ns_) {
      if (counts_.at(config) < least) continue;
      all += ns;
      if (scheduler_.complete(config)) complete += ns;
    }
    return all > 0 ? 100 * complete / all : 0;
  }
  [[nodiscard]] Result result() const {
    return {all_after_ ? static_cast<double>(*all_after_) : HUGE_VAL, spent_ns_ / 1e9, static_cast<double>(windows_),
            complete_share(kOften)};
  }

 private:
  static constexpr double kNearlyAll = 99;

  void see(std::uint32_t config) {
    if (!scheduler_.launched(config, 1)) return;
    const PassScheduler::Step step = scheduler_.take(config);
    if (step == PassScheduler::Step::none) return;
    if (step != PassScheduler::Step::sample) close();
    if (step == PassScheduler::Step::close) return;
    if (step == PassScheduler::Step::window) {
      scheduler_.open(config);
      open_ = true;
    }
    spent_ns_ += prices_[scheduler_.pass()].sample_ns;
    if (scheduler_.full()) close();
  }
  void close() {
    if (!std::exchange(open_, false)) return;
    const double ns = prices_[scheduler_.pass()].window_ns * differs_(random_);
    spent_ns_ += ns;
    ++windows_;
    scheduler_.end_window(learns_ ? std::optional(ns) : std::nullopt);
  }

  const std::vector<Launch>& launches_;
  std::mt19937 random_;
  const bool learns_;
  std::uniform_real_distribution<double> differs_{0.8, 1.2};
  const std::vector<PassScheduler::Price> prices_ = prices();
  PassScheduler scheduler_;
  std::map<std::uint32_t, double> gpu_ns_;
  std::map<std::uint32_t, std::uint64_t> counts_;
  std::optional<std::size_t> all_after_;
  std::uint32_t step_ = model::kNone;
  std::size_t steps_ = 0, windows_ = 0;
  double spent_ns_ = 0;
  std::vector<double> spent_at_collectives_;
  bool open_ = false;
};

// What all wait for: from one collective to the next the rank whose windows take longest.
double seconds_of_ranks(const std::vector<Launch>& launches, bool learns) {
  std::vector<double> most;
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    Simulation one(launches, rank, learns);
    one.run();
    const std::vector<double>& spent = one.spent_at_collectives();
    most.resize(spent.size());
    for (std::size_t i = 0; i < spent.size(); ++i) most[i] = std::max(most[i], spent[i] - (i > 0 ? spent[i - 1] : 0));
  }
  return std::accumulate(most.begin(), most.end(), 0.0) / 1e9;
}

// "7.0 (6.7 to 7.4)": the median and the range.
std::string spread(std::vector<Result> results, double Result::*figure, const char* format) {
  std::sort(results.begin(), results.end(), [&](const Result& a, const Result& b) { return a.*figure < b.*figure; });
  const auto text = [&](std::size_t at) { return fmt::format(fmt::runtime(format), results[at].*figure); };
  return fmt::format("{} ({} to {})", text(results.size() / 2), text(0), text(results.size() - 1));
}

void simulate(const std::filesystem::path& capture) {
  const std::vector<Launch> launches = launches_of(capture);
  std::vector<Result> results;
  for (unsigned seed = 0; seed < kRuns; ++seed) {
    Simulation simulation(launches, seed, true);
    simulation.run();
    results.push_back(simulation.result());
  }
  fmt::print("{}: 99 % of the GPU time after {} steps; {} s in {} windows; launched often: {} %; median and range, n {}\n",
             capture.filename().string(), spread(results, &Result::all_after, "{:.0f}"),
             spread(results, &Result::seconds, "{:.1f}"), spread(results, &Result::windows, "{:.0f}"),
             spread(results, &Result::often_pct, "{:.2f}"), kRuns);
  if (std::none_of(launches.begin(), launches.end(), [](const Launch& launch) { return launch.collective; })) return;
  fmt::print(
      "  {} ranks, each on its own host, that wait for one another: {:.1f} s, and {:.1f} s where all go by the same prices\n",
      kRanks, seconds_of_ranks(launches, true), seconds_of_ranks(launches, false));
}

}  // namespace
}  // namespace dlkprof

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) dlkprof::simulate(argv[i]);
    return argc > 1 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "window_schedule: %s\n", error.what());
    return 1;
  }
}
