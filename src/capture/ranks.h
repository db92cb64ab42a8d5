// Which processes of a distributed run are profiled: --ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlkprof::capture {

// Where a process stands in its job, as far as its launcher says.
struct RankPlace {
  std::uint32_t rank = 0;
  std::optional<std::uint32_t> on_node;  // among the ranks of its node
  std::optional<std::uint32_t> ranks;    // of the job
};

class Ranks {
 public:
  // Numbers, ranges, the first n of each node and n of the job, comma-separated: "0,8-15", "1/node", "16/job". Throws Error.
  [[nodiscard]] static Ranks parse(const std::string& text);

  // The n of the job are one of each n-th part of it, drawn so that they are neither the first of a node nor equally far apart;
  // all processes draw the same. What the place does not say leaves no process out.
  [[nodiscard]] bool contains(const RankPlace& place) const noexcept;
  // Which variables of the environment would say what parse() took and the place lacks; null: none is lacking.
  [[nodiscard]] const char* lacking(const RankPlace& place) const noexcept;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;  // first and last
  std::uint32_t on_node_ = 0, of_job_ = 0;                       // 0: not asked for
};

// The rank of this process, as its launcher says in the environment: torchrun (RANK), Open MPI (OMPI_COMM_WORLD_RANK), PMIx
// (PMIX_RANK), MPICH and Intel MPI (PMI_RANK), Slurm (SLURM_PROCID, where SLURM_STEP_ID tells that srun started it: a batch
// script has the former too); in this order, as a launcher may run under another. None where none says it.
[[nodiscard]] std::optional<std::uint32_t> rank_of_process();
// The same with what its launcher says of its node and job.
[[nodiscard]] std::optional<RankPlace> place_of_process();

// Whether there are other ranks, or their number is not said.
[[nodiscard]] bool has_other_ranks();

// Whether `ranks`, as parse() takes it, leaves this process out. Empty text leaves none out, and neither is a process left out
// that has no rank, as the launcher itself.
[[nodiscard]] bool is_of_another_rank(const std::string& ranks);

}  // namespace dlkprof::capture
