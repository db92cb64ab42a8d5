// A job as formats export it: what its database keeps of each rank, which are no events but iterations, collectives and sums of
// ops.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "export/stacks.h"

namespace dlkprof::exports {

struct TraceArg {
  std::uint32_t name = 0;   // index into JobRun::strings
  std::uint64_t value = 0;  // of a text the same
  bool is_text = false;
};

struct TraceSlice {
  std::int64_t start_ns = 0, end_ns = 0;  // since 1970, by the clock of the job
  std::uint32_t name = 0;                 // index into JobRun::strings
  std::vector<TraceArg> args;
};

// Slices by their start; where one begins before the one before it ends, it is cut.
struct TraceTrack {
  std::string name;
  std::uint32_t category = 0;  // of its slices: index into JobRun::strings
  std::vector<TraceSlice> slices;
};

struct RankTrace {
  std::uint32_t number = 0;
  std::string title;
  std::vector<TraceTrack> tracks;
};

struct JobRun {
  std::string label;  // the name of its file; valid UTF-8
  std::int64_t start_ns = 0;
  std::vector<std::string> strings;
  // Ranks one after the other, by number, as those of 10,000 take gigabytes.
  std::function<void(const std::function<void(const RankTrace&)>& take)> each_rank;
  std::function<std::vector<Stack>()> stacks;  // GPU time of all ranks
};

}  // namespace dlkprof::exports
