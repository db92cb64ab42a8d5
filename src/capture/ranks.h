// Which processes of a distributed run are profiled: --ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlkprof::capture {

class Ranks {
 public:
  // Numbers and ranges, comma-separated: "0,8-15". Throws Error.
  [[nodiscard]] static Ranks parse(const std::string& text);
  [[nodiscard]] bool contains(std::uint32_t rank) const noexcept;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;  // first and last
};

// The rank of this process, as its launcher says in the environment: torchrun (RANK), Open MPI (OMPI_COMM_WORLD_RANK), PMIx
// (PMIX_RANK), MPICH and Intel MPI (PMI_RANK), Slurm (SLURM_PROCID, where SLURM_STEP_ID tells that srun started it: a batch
// script has the former too); in this order, as a launcher may run under another. None where none says it.
[[nodiscard]] std::optional<std::uint32_t> rank_of_process();

// Whether `ranks`, as parse() takes it, leaves this process out. Empty text leaves none out, and neither is a process left out
// that has no rank, as the launcher itself.
[[nodiscard]] bool is_of_another_rank(const std::string& ranks);

}  // namespace dlkprof::capture
