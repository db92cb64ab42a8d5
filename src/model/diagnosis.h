// What the diagnosis found of a profile, as plain rows for the database, which knows nothing of rules and verdicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/aggregate/occupancy.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// A row of Aggregate::ops or Aggregate::kernels.
struct DiagnosedRow {
  enum class Kind : std::uint8_t { op = 0, kernel = 1 };
  Kind kind = Kind::op;
  std::size_t rank = 0;
};

struct DiagnosedVerdict {
  DiagnosedRow row;
  std::string verdict, reason;           // "launch-bound", and the figures that say so
  std::optional<std::int64_t> bound_ns;  // that mending it saves at most, of the iterations aggregated
  std::optional<double> sm_percent, memory_percent, filled_percent, waited_percent;
};

struct DiagnosedStall {
  DiagnosedRow row;
  std::string reason;  // long_scoreboard
  double cycles = 0;   // an instruction issued
  double percent = 0;  // of all warp cycles
  bool waits = true;   // false: the warp issues
};

struct DiagnosedOccupancy {
  std::uint32_t config = 0;  // index into Timeline::configs
  std::uint64_t launches = 0, samples = 0;
  std::optional<std::int64_t> gpu_ns;    // none of its launches was timed
  std::optional<Occupancy> theoretical;  // not known
  std::optional<double> achieved_percent, idle_sms_percent, tail_percent;
  std::string gap, step;  // sentences; may be empty
};

struct DiagnosedFinding {
  std::string rule, detector, headline, problem, recommendation, where, basis;
  std::optional<std::int64_t> bound_ns;
  std::uint32_t op = kNone;  // index into Fold::ops; kNone: the run
};

struct Diagnosis {
  std::vector<DiagnosedFinding> findings;  // by time at stake, falling
  std::vector<DiagnosedVerdict> verdicts;
  std::vector<DiagnosedStall> stalls;  // of a row by cycles, falling
  std::vector<DiagnosedOccupancy> occupancy;
};

}  // namespace dlkprof::model
