// The collectives of a job in rounds, by communicator and sequence: all ranks' rows of some collectives at a time, as those of
// 10,000 ranks take gigabytes.
#pragma once

#include <cstdint>
#include <vector>

#include "job/analysis_parts.h"
#include "job/database.h"

namespace dlkprof::job {

class CollectiveRounds {
 public:
  static constexpr std::size_t kRowsAtOnce = 500'000;  // 40 MB

  // `ranks` by number, with their roles. Both outlive it.
  CollectiveRounds(JobDatabase& database, const std::vector<RankRow>& ranks, std::size_t rows_at_once = kRowsAtOnce);

  // Of each collective either all rows or none; later rounds have those that follow. By role, communicator, sequence and rank.
  // False after the last round. Throws Error.
  [[nodiscard]] bool next(std::vector<CollectiveOfRank>& round);

 private:
  struct Waiting {
    std::vector<RankCollective> rows;  // read, and in no round yet
    std::optional<RankCollective> last;
    bool has_more = true;
  };
  void load(std::uint32_t number, Waiting& waiting);

  JobDatabase& database_;
  const std::vector<RankRow>& ranks_;
  std::size_t at_once_;
  std::vector<Waiting> waiting_;  // by rank
};

}  // namespace dlkprof::job
