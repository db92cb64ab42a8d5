// What is kept of a rank of a job: figures of its ops, its iterations and its collectives, but none of its other events.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/distribution.h"
#include "model/timeline/timeline.h"

namespace dlkprof::job {

using model::kNone;

// An op of the job: the same for all ranks that have it.
struct OpName {
  std::string name, direction, type;
  friend auto operator<=>(const OpName&, const OpName&) = default;
};

// Times of an op, a value an iteration aggregated.
struct OpTimes {
  std::uint32_t op = 0;        // index into Rank::ops
  std::uint32_t segment = 0;   // so many collectives of the iteration come before its first kernel, mostly
  std::uint64_t launches = 0;  // kernels, copies and sets, of all these iterations
  Distribution gpu_ns;         // of its kernels, copies and sets
  Distribution wait_ns;        // the GPU did nothing right before these
};

// A hardware counter of an op; of counts (".sum") what an iteration has.
struct OpCounter {
  std::uint32_t op = 0;      // index into Rank::ops
  std::uint32_t metric = 0;  // index into Rank::metrics
  double value = 0;
  std::uint64_t samples = 0;  // launches measured
};

// Times in ns; start_ns of the host's wall clock.
struct RankIteration {
  std::uint32_t iteration = 0;  // number in the rank's capture
  std::int64_t start_ns = 0, length_ns = 0;
  std::int64_t gpu_ns = 0;         // the GPU did anything
  std::int64_t collective_ns = 0;  // a collective ran
  std::int64_t exposed_ns = 0;     // nothing but collectives ran
  std::int64_t input_ns = 0;       // the GPU did nothing before the first kernel, copy or set
  std::int64_t idle_ns = 0;        // nor before the others
};

// A collective that a rank took part in. Those of a communicator are numbered by their order, which is the same on all its ranks.
struct RankCollective {
  std::uint32_t communicator = 0;         // by the order in which the rank first used them
  std::uint32_t sequence = 0;             // in the communicator
  std::uint32_t iteration = 0;            // as in RankIteration
  std::uint32_t position = 0;             // among all collectives of the iteration
  std::uint32_t kind = 0;                 // index into Rank::kinds
  std::int64_t start_ns = 0, end_ns = 0;  // on the GPU, of the host's wall clock
  // Of the ops that ran since the collective before: the one that took longer than it mostly does on this rank, by most.
  std::uint32_t late_op = kNone;  // index into Rank::ops
  std::int64_t late_ns = 0;
  std::uint32_t bytes = kNone;  // of its message, as NCCL says; kNone: not known
  std::int64_t exposed_ns = 0;  // nothing but collectives ran
};

// Which process it is: the same process has the same, in whatever file.
struct RankIdentity {
  std::optional<std::uint32_t> number;  // as the launcher or torch.distributed said
  std::string host;
  std::uint32_t pid = 0;
  std::int64_t start_unix_ns = 0;
  friend auto operator<=>(const RankIdentity&, const RankIdentity&) = default;
};

struct Rank {
  RankIdentity identity;
  std::uint32_t world_size = 0;  // 0: not known
  std::string gpu, pci_bus_id;
  double clock_hz = 0;                      // of the multiprocessors, mean over the launches measured; 0: not measured
  std::uint64_t launches = 0;               // kernels, copies and sets in the iterations aggregated
  std::uint64_t damaged = 0;                // records of its capture that were left out
  bool ended = true;                        // false: its capture was cut short
  std::vector<OpName> ops;                  // sorted, each once
  std::vector<std::string> metrics, kinds;  // the same
  std::vector<OpTimes> times;               // by op
  std::vector<OpCounter> counters;          // by op and metric
  std::vector<RankIteration> iterations;    // those aggregated, in their order
  std::vector<RankCollective> collectives;  // by communicator and sequence
};

}  // namespace dlkprof::job
