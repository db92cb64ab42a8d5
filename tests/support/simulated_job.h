// A job of any number of ranks with known faults, made from the events of one recorded rank: each rank does the same ops in the
// same order, a little faster or slower at random, and all of them wait for one another in collectives. Seeded: the same job for
// the same SimulatedJob.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job/rank_events.h"

namespace dlkprof::test {

inline constexpr std::int64_t kSimulatedStart = 1'700'000'000'000'000'000;  // when jobs begin

// What is wrong with one rank.
struct PlantedFault {
  std::uint32_t rank = 0;
  double clock = 1;             // its GPU runs at this part of its clock: all its kernels take as much longer
  double work = 1;              // its shard is so much larger: longer kernels, with more instructions
  std::string op;               // empty: none
  double op_takes = 1;          // that op takes so much longer on this rank
  std::int64_t input_ns = 0;    // that its GPU waits for its data in each iteration
  std::int64_t sleep_ns = 0;    // its host sleeps before `op`,
  std::uint32_t sleeps_in = 1;  // in each so many iterations
};

struct SimulatedJob {
  std::uint32_t ranks = 8, iterations = 20, seed = 1;
  std::uint32_t ranks_a_host = 8;
  double noise = 0.01;  // standard deviation of the length of a kernel, as a part of it
  std::vector<PlantedFault> faults;
  std::set<std::uint32_t> missing;                     // ranks without a capture
  std::map<std::string, double> offset_ns, drift_ppm;  // of the clocks of hosts
  std::int64_t collective_ns = 20'000;                 // of one, when all have come
  std::uint32_t collective_bytes = 0;                  // 0: captures do not say
  std::uint32_t collectives = 4;                       // an iteration
  double end_jitter_ns = 1'000;                        // standard deviation of the ends of an all-reduce over ranks
};

// An op of the recorded rank: what it does in an iteration.
struct RecordedOp {
  job::OpName name;
  std::int64_t gpu_ns = 0;
  double instructions = 0, bytes = 0;
};

// The ops of an iteration of a recorded rank, each once, in the order of their first kernel, by their median time.
inline std::vector<RecordedOp> recorded_ops(const job::RankEvents& events) {
  std::vector<std::uint32_t> order;
  std::map<std::uint32_t, std::map<std::uint32_t, std::int64_t>> by_op;  // iteration -> time
  for (const job::RankEvent& event : events.events) {
    if (!by_op.contains(event.op)) order.push_back(event.op);
    by_op[event.op][event.iteration] += event.end_ns - event.start_ns;
  }
  std::vector<RecordedOp> ops;
  for (const std::uint32_t op : order) {
    std::vector<std::int64_t> times;
    for (const auto& [iteration, ns] : by_op[op]) times.push_back(ns);
    std::sort(times.begin(), times.end());
    const std::int64_t ns = std::max<std::int64_t>(times[times.size() / 2], 1000);
    ops.push_back({events.about.ops[op], ns, static_cast<double>(ns) * 40, static_cast<double>(ns) * 2000});
  }
  return ops;
}

inline std::vector<RecordedOp> recorded_ops(const std::filesystem::path& capture) {
  model::Profile profile;
  profile.timeline = model::load_timeline(std::vector<std::filesystem::path>{capture});
  profile.fold = model::fold(profile.timeline);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold);
  return recorded_ops(job::events_of(profile).front());
}

// The one that takes longest: what happens to it can be seen.
inline std::string longest_op(const std::vector<RecordedOp>& ops) {
  return std::max_element(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.gpu_ns < b.gpu_ns; })->name.name;
}

class JobSimulator {
 public:
  JobSimulator(SimulatedJob job, std::vector<RecordedOp> recorded)
      : job_(std::move(job)), ops_(std::move(recorded)), random_(job_.seed), now_(job_.ranks, kStart), events_(job_.ranks) {}

  // Gives each rank that has a capture. Iterations are simulated for all ranks at once, as they wait for one another.
  void run(const std::function<void(job::Rank)>& take) {
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) begin(rank);
    for (std::uint32_t iteration = 0; iteration < job_.iterations; ++iteration) iterate(iteration);
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      job::RankEvents events = std::move(events_[rank]);
      if (!job_.missing.contains(rank)) take(job::aggregate_rank(std::move(events)));
    }
  }

 private:
  static constexpr std::int64_t kStart = kSimulatedStart, kGap = 500;

  [[nodiscard]] std::string host(std::uint32_t rank) const { return fmt::format("node{:04}", rank / job_.ranks_a_host); }
  [[nodiscard]] const PlantedFault* fault(std::uint32_t rank) const {
    const auto found = std::find_if(job_.faults.begin(), job_.faults.end(), [rank](const auto& one) { return one.rank == rank; });
    return found == job_.faults.end() ? nullptr : &*found;
  }

  void begin(std::uint32_t rank) {
    job::Rank& about = events_[rank].about;
    about.identity = {rank, host(rank), 1000 + rank, kStart};
    about.world_size = job_.ranks;
    about.gpu = "NVIDIA H200";
    about.pci_bus_id = fmt::format("0000:{:02x}:00.0", rank % job_.ranks_a_host);
    const PlantedFault* wrong = fault(rank);
    about.clock_hz = 1.755e9 * (wrong != nullptr ? wrong->clock : 1);
    about.metrics = {"dram__bytes.sum", "smsp__inst_executed.sum"};
    about.kinds = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL"};
    for (const RecordedOp& op : ops_) about.ops.push_back(op.name);
    about.ops.push_back({"/nccl:all_reduce", "bprop", "nccl:all_reduce"});
    std::sort(about.ops.begin(), about.ops.end());
    const double work = wrong != nullptr ? wrong->work : 1;
    std::map<std::uint32_t, std::pair<double, double>> counters;
    for (const RecordedOp& op : ops_) counters[place_of(about, op.name)] = {op.bytes * work, op.instructions * work};
    for (const auto& [op, values] : counters) {
      about.counters.push_back({op, 0, values.first, 3});
      about.counters.push_back({op, 1, values.second, 3});
    }
  }

  static std::uint32_t place_of(const job::Rank& about, const job::OpName& name) {
    return static_cast<std::uint32_t>(std::lower_bound(about.ops.begin(), about.ops.end(), name) - about.ops.begin());
  }

  // As the host's own clock has it.
  [[nodiscard]] std::int64_t on_clock(std::uint32_t rank, std::int64_t ns) const {
    const auto value = [&](const std::map<std::string, double>& of) {
      const auto found = of.find(host(rank));
      return found == of.end() ? 0.0 : found->second;
    };
    return ns +
           static_cast<std::int64_t>(value(job_.offset_ns) + value(job_.drift_ppm) * 1e-6 * static_cast<double>(ns - kStart));
  }

  void iterate(std::uint32_t iteration) {
    std::vector<std::int64_t> starts = now_;
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      const PlantedFault* wrong = fault(rank);
      now_[rank] += 5'000 + (wrong != nullptr ? wrong->input_ns : 0);
    }
    const std::size_t segment = ops_.size() / job_.collectives + 1;
    for (std::size_t first = 0; first < ops_.size(); first += segment) {
      for (std::uint32_t rank = 0; rank < job_.ranks; ++rank)
        compute(rank, iteration, first, std::min(ops_.size(), first + segment));
      all_reduce(iteration);
    }
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      job::RankIteration one;
      one.iteration = iteration;
      one.start_ns = on_clock(rank, starts[rank]);
      one.length_ns = now_[rank] - starts[rank];
      events_[rank].iterations.push_back(one);
    }
  }

  [[nodiscard]] std::size_t first_of(const std::string& name) const {
    const auto found = std::find_if(ops_.begin(), ops_.end(), [&name](const RecordedOp& op) { return op.name.name == name; });
    return static_cast<std::size_t>(found - ops_.begin());
  }

  void compute(std::uint32_t rank, std::uint32_t iteration, std::size_t first, std::size_t end) {
    const PlantedFault* wrong = fault(rank);
    std::normal_distribution<double> noise(1, job_.noise);
    for (std::size_t i = first; i < end; ++i) {
      double takes = std::max(0.5, noise(random_));
      if (wrong != nullptr) {
        const bool is_op = i == first_of(wrong->op);
        takes *= wrong->work / wrong->clock * (is_op ? wrong->op_takes : 1);
        if (is_op && iteration % wrong->sleeps_in == 0) now_[rank] += wrong->sleep_ns;
      }
      const auto ns = static_cast<std::int64_t>(static_cast<double>(ops_[i].gpu_ns) * takes);
      add(rank, iteration, place_of(events_[rank].about, ops_[i].name), now_[rank], now_[rank] + ns, job::kNone);
      now_[rank] += ns + kGap;
    }
  }

  void all_reduce(std::uint32_t iteration) {
    const std::int64_t end = *std::max_element(now_.begin(), now_.end()) + job_.collective_ns;
    std::normal_distribution<double> jitter(0, job_.end_jitter_ns);
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      const std::int64_t own = std::max(now_[rank] + 1, end + static_cast<std::int64_t>(jitter(random_)));
      add(rank, iteration, place_of(events_[rank].about, {"/nccl:all_reduce", "bprop", "nccl:all_reduce"}), now_[rank], own, 0);
      now_[rank] = own + kGap;
    }
  }

  void add(std::uint32_t rank, std::uint32_t iteration, std::uint32_t op, std::int64_t start, std::int64_t end,
           std::uint32_t kind) {
    events_[rank].events.push_back({on_clock(rank, start), on_clock(rank, end), op, iteration, kind == job::kNone ? 7U : 20U,
                                    kind, kind == job::kNone || job_.collective_bytes == 0 ? job::kNone : job_.collective_bytes});
  }

  SimulatedJob job_;
  std::vector<RecordedOp> ops_;
  std::mt19937 random_;
  std::vector<std::int64_t> now_;  // by rank
  std::vector<job::RankEvents> events_;
};

inline std::vector<job::Rank> simulate(const SimulatedJob& job, const std::vector<RecordedOp>& ops) {
  std::vector<job::Rank> ranks;
  JobSimulator(job, ops).run([&ranks](job::Rank rank) { ranks.push_back(std::move(rank)); });
  return ranks;
}

}  // namespace dlkprof::test
