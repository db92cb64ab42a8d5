// Why a launch configuration has the occupancy that it has, and how far it is to more. Everything is tried with the occupancy
// functions of the CUDA Toolkit for the GPU recorded; nothing is interpolated. Clusters are left out of account: they can only
// lower what is possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/config_use.h"
#include "model/aggregate/occupancy.h"

namespace dlkprof::advise {

// The least change that puts one more block on a multiprocessor, in each resource that stands against it.
struct OccupancyStep {
  std::uint32_t registers_fewer = 0;     // a thread
  std::uint64_t shared_bytes_fewer = 0;  // a block
  double percent = 0;                    // theoretical occupancy then
};

// Why the achieved occupancy stays below the theoretical one.
enum class OccupancyGap : std::uint8_t {
  unknown,         // one of the two is not known
  none,            // within kOccupancyGapPoints
  grid_too_small,  // its blocks do not fill one wave
  short_kernel,    // multiprocessors idle at its beginning and end
  tail,            // its last wave is not full
  imbalance,       // none of these: blocks or warps of different lengths, or starting them
};

// Ours: an achieved occupancy below this share of the theoretical one is worth a reason, however few points they are apart.
inline constexpr double kLeastOfTheoretical = 80;
// Nsight Compute 2025.3 speaks of a difference of achieved and theoretical occupancy from more than 10 points on.
inline constexpr double kOccupancyGapPoints = 10;
// Below this share of its time a multiprocessor has warps: a fifth, as for the tail effect of Nsight Compute's launch statistics.
inline constexpr double kLeastActivePercent = 80;
// Ours: starting and draining a grid takes a few microseconds, a good part of a kernel that is shorter than ten.
inline constexpr double kShortKernelNs = 10'000;

struct OccupancyAdvice {
  std::optional<model::Occupancy> theoretical;  // none where GPU or function are not described, or not possible
  std::optional<double> achieved;               // %
  std::uint64_t blocks = 0;
  std::optional<double> idle_sms_percent;  // multiprocessors that get no block, since the grid has fewer
  std::optional<double> tail_percent;      // of the time of all waves, lost in the last: were all blocks of one length. None of
                                           // a grid that fills no wave: idle_sms_percent and grid_percent say what it lacks
  std::optional<double> grid_percent;      // occupancy that the grid allows on the multiprocessors that have a block
  std::optional<OccupancyStep> step;       // none where nothing is to be had, or block size or the hardware stand against it
  const char* no_step = "";                // why none is given although there might be one: a sentence; else ""
  std::uint32_t better_block_threads = 0;  // block size with more occupancy, nearest to that of the launch; 0: there is none
  double better_block_percent = 0;
  OccupancyGap gap = OccupancyGap::unknown;
};

[[nodiscard]] OccupancyAdvice advise_occupancy(const model::Timeline& timeline, const ConfigUse& use);

// For people: "2 registers fewer a thread: 75 % -> 100 %", or why there is none; empty where nothing is to be said.
[[nodiscard]] std::string step_text(const OccupancyAdvice& advice);
// "" where unknown, "none", or a sentence with the figure that says so.
[[nodiscard]] std::string gap_text(const OccupancyAdvice& advice, const ConfigUse& use);

// Theoretical occupancy while one thing changes and all else stays.
enum class CurveOf : std::uint8_t { block_size, registers, shared_memory };
struct CurvePoint {
  std::uint64_t x = 0;  // threads a block; registers a thread; bytes of static and dynamic shared memory a block
  double percent = 0;
};
// By rising x, in steps of allocation; what is not possible is left out. Empty where theoretical occupancy is not known.
[[nodiscard]] std::vector<CurvePoint> occupancy_curve(const model::Timeline& timeline, const ConfigUse& use, CurveOf what);

}  // namespace dlkprof::advise
