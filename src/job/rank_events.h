// The GPU's doing on one rank, as its aggregate is made from: what a capture says, or what a simulated job would have left.
#pragma once

#include <vector>

#include "job/rank.h"
#include "model/profile.h"

namespace dlkprof::job {

struct RankEvent {
  std::int64_t start_ns = 0, end_ns = 0;  // of the host's wall clock
  std::uint32_t op = 0;                   // index into RankEvents::ops
  std::uint32_t iteration = 0;            // number
  std::uint32_t stream = 0;
  std::uint32_t kind = kNone;   // of collectives: index into RankEvents::kinds
  std::uint32_t bytes = kNone;  // of a collective's message, as NCCL says; kNone: not known
};

struct RankEvents {
  Rank about;                             // all but what aggregate_rank() sets: times, iterations, collectives
  std::vector<RankEvent> events;          // by start
  std::vector<RankIteration> iterations;  // their number, start and length
};

// A process of a run that used a GPU, each; none where none did. Of what `profile` aggregates; what was not timed is left out.
// Counters are those of the run, so that they are left out where several processes share it.
[[nodiscard]] std::vector<RankEvents> events_of(const model::Profile& profile);

[[nodiscard]] Rank aggregate_rank(RankEvents events);

// The same of all processes of a run.
[[nodiscard]] std::vector<Rank> ranks_of(const model::Profile& profile);

}  // namespace dlkprof::job
