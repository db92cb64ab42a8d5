// A run as the formats export it: what it is called, and how its events find one another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/aggregate/grouped_indices.h"
#include "model/profile.h"
#include "report/launches/reports.h"

namespace dlkprof::exports {

struct Run {
  const model::Profile* profile = nullptr;
  std::string label;           // the name of its file; valid UTF-8
  report::UnitLookup unit_of;  // of a metric

  [[nodiscard]] const model::Timeline& timeline() const { return profile->timeline; }
  [[nodiscard]] const model::Fold& fold() const { return profile->fold; }
};

// Joins that a folded timeline keeps the other way round. Refers to the profile.
class RunIndex {
 public:
  explicit RunIndex(const model::Profile& profile);

  // Of a range: index into Fold::ops; kNone where it does not count as an op.
  [[nodiscard]] std::uint32_t op_of_range(std::uint32_t range) const { return op_of_range_[range]; }
  // Of an activity.
  [[nodiscard]] std::uint32_t op_of_activity(std::size_t activity) const;
  // What a call caused: indices into Timeline::activities.
  [[nodiscard]] std::span<const std::uint32_t> works(std::size_t call) const { return works_[call]; }

 private:
  const model::Profile* profile_;
  std::vector<std::uint32_t> op_of_range_;
  model::GroupedIndices works_;
};

// A fact that the program's framework told, by name; none where it did not.
[[nodiscard]] std::optional<std::string> fact_of(const model::Timeline& timeline, const std::string& name);
// The rank that the program said it was, as torch.distributed or RANK has it.
[[nodiscard]] std::optional<std::uint32_t> rank_of(const model::Timeline& timeline);

// The command line of a process, as valid UTF-8 and not longer than a title can be.
[[nodiscard]] std::string command_line(const model::Process& process);

// "sm_90"; empty where the GPU is not described.
[[nodiscard]] std::string architecture(const model::Timeline& timeline, const model::Config& config);

// A time of a process's clock as ns since 1970.
[[nodiscard]] std::int64_t on_wall_clock(const model::Process& process, std::int64_t ns);

// Times from different machines go by their wall clocks: what to add to times of `process` so that they are on the clock of
// `reference`. 0 on the same host, whose clock both have.
[[nodiscard]] std::int64_t clock_shift(const model::Process& process, const model::Process& reference);

}  // namespace dlkprof::exports
