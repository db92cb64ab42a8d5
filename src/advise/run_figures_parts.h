// The parts of figures_of(): which iterations count, how busy GPUs were in them, and what was launched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "advise/run_figures.h"
#include "model/aggregate/counter_join.h"

namespace dlkprof::advise {

// The iterations that count, numbered from 0. Of one kind of iterations there are others between them.
class Window {
 public:
  explicit Window(const model::Profile& profile);

  [[nodiscard]] bool has_iterations() const { return has_iterations_; }
  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  // Where each begins, and the last one ends, others between them included; in order.
  [[nodiscard]] const std::vector<std::int64_t>& bounds() const { return bounds_; }
  // Whether what begins at one of bounds() counts.
  [[nodiscard]] bool counts(std::size_t bound) const { return numbers_[bound] != model::kNone; }
  [[nodiscard]] bool has(std::int64_t time_ns) const;
  [[nodiscard]] std::vector<double> lengths() const;
  // Of an iteration of the fold's; none where it does not count.
  [[nodiscard]] std::optional<std::uint32_t> index_of(std::uint32_t iteration) const {
    if (iteration < first_ || iteration > last_) return std::nullopt;
    const std::uint32_t number = numbers_[has_iterations_ ? iteration - first_ : 0];
    return number == model::kNone ? std::nullopt : std::optional(number);
  }

 private:
  bool has_iterations_ = false;
  std::uint32_t first_ = 0, last_ = 0;
  std::size_t count_ = 0;
  std::vector<std::int64_t> bounds_;
  std::vector<std::uint32_t> numbers_;  // of what begins at each of them but the last; kNone: it does not count
};

// How long each GPU was at work in each iteration, overlapping work counting once. Work is added by rising start.
class BusyTimes {
 public:
  BusyTimes(std::size_t devices, const Window& window) : window_(window), gpus_(devices), busy_ns_(window.bounds().size() - 1) {}
  void add(std::uint32_t device, std::int64_t start, std::int64_t end);
  // None where there is no GPU.
  [[nodiscard]] std::optional<Spread> utilization() const;

 private:
  struct Gpu {
    std::int64_t reached = 0;   // the end of all work so far
    std::size_t iteration = 0;  // that the next work cannot lie before
    bool began = false;
  };
  const Window& window_;
  std::vector<Gpu> gpus_;
  std::vector<double> busy_ns_;  // of what begins at each of the window's bounds, all GPUs together
};

// Launches of an op that agree in kernel and configuration.
struct LaunchId {
  std::uint32_t op = 0, kernel = 0, config = 0;
  friend auto operator<=>(const LaunchId&, const LaunchId&) = default;
};
struct HashLaunchId {
  std::size_t operator()(const LaunchId& id) const noexcept {
    std::size_t hash = id.op;
    for (const std::uint32_t part : {id.kernel, id.config}) hash = (hash ^ part) * std::size_t{0x9e3779b97f4a7c15U};
    return hash ^ (hash >> 32U);
  }
};
struct LaunchSum {
  std::uint64_t launches = 0;
  std::int64_t gpu_ns = 0;
  std::uint32_t device = 0;
  bool uses_tc = false;
};
using LaunchSums = std::unordered_map<LaunchId, LaunchSum, HashLaunchId>;

// What launches were, put into figures of ops and of the run.
class LaunchGroups {
 public:
  LaunchGroups(const model::Timeline& timeline, LaunchSums&& sums);

  void describe(RunFigures& figures) const;
  // Kernels, fill and counters of an op.
  void describe(std::uint32_t op, std::size_t iterations, OpFigures& figures) const;

 private:
  // Of a launch configuration on its GPU; absent where it cannot be known.
  struct GridFill {
    std::optional<double> idle_sms, waves;
  };
  using Sorted = std::map<LaunchId, LaunchSum>;
  using Range = std::pair<Sorted::const_iterator, Sorted::const_iterator>;

  void find_fills();
  void join_counters();
  [[nodiscard]] Range of_op(std::uint32_t op) const;
  [[nodiscard]] Fill fill_of(Range range) const;
  [[nodiscard]] Measured measured_of(Range range, std::size_t row) const;
  [[nodiscard]] ConfigFigures config_of(const LaunchId& id, const LaunchSum& sum, std::size_t iterations) const;

  const model::Timeline& timeline_;
  Sorted sums_;
  std::map<std::uint32_t, GridFill> fills_;  // by configuration
  // Rows of counters: of the run, of each op, and of each kernel of an op.
  std::map<std::uint32_t, std::size_t> op_rows_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> kernel_rows_;
  std::vector<model::Counters> counters_;
};

}  // namespace dlkprof::advise
