// The ops of a job, one after the other, each with all its ranks: what compares ranks needs of them. Only the rows of some ops
// are in memory at a time, as those of 10,000 ranks take gigabytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/analysis_parts.h"
#include "job/database.h"

namespace dlkprof::job {

class OpColumns {
 public:
  static constexpr std::size_t kRowsAtOnce = 500'000;  // 30 MB

  // The database outlives it.
  explicit OpColumns(JobDatabase& database, std::size_t rows_at_once = kRowsAtOnce);

  // To the next op that a rank has; false after the last one. Throws Error.
  [[nodiscard]] bool next();
  [[nodiscard]] std::uint32_t op() const { return first_ + place_; }
  // By rank, which is its place among the numbers of all ranks.
  [[nodiscard]] std::span<const OpOfRank> ranks() const { return columns_[place_]; }

 private:
  void load();
  void load_rank(std::uint32_t rank, std::uint32_t number);
  [[nodiscard]] std::uint32_t metric(std::string_view name) const;

  JobDatabase& database_;
  std::vector<std::uint32_t> numbers_;  // of all ranks
  std::vector<std::uint32_t> work_metrics_;
  std::uint32_t ops_ = 0, at_once_ = 1;
  std::uint32_t first_ = 0, place_ = 0;         // of the ops in columns_: the first, and the one that is shown
  std::vector<std::vector<OpOfRank>> columns_;  // by op
};

}  // namespace dlkprof::job
