// Rules about single kernels, from their launch configuration and counters.
#include <fmt/format.h>

#include "advise/occupancy_advice.h"
#include "advise/rule_parts.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

constexpr double kLowOccupancy = 50;       // %
constexpr double kCoalescedSectors = 16;   // a request: 32 threads with 16 bytes each
constexpr double kMostSectors = 17;        // one more, as means are never exact
constexpr double kFewestSectors = 4;       // 32 threads with 4 bytes each
constexpr double kMostConflicts = 25;      // % of the wavefronts
constexpr std::size_t kMostOpsNamed = 60;  // characters: what is longer reads no better
constexpr double kFewestThreads = 24;      // of a warp, an instruction

constexpr const char* kFewerRegisters =
    "Use __launch_bounds__ or -maxrregcount, smaller tiles, or another algorithm of the library; watch for spills.";

// The blocks of a grid, where they are too few for the multiprocessors.
struct SmallGrid {
  double blocks = 0, sms = 0;
  [[nodiscard]] bool is_small() const { return sms > 0 && blocks > 0 && 100 * blocks / sms < kFilledPercent; }
};

SmallGrid grid_of(const Case& run, const ConfigUse& use) {
  const capture::Dim3& grid = run.profile.timeline.configs[use.config].key.grid;
  return {double{1} * grid.x * grid.y * grid.z, double{1} * run.profile.timeline.devices[use.device].record.sm_count};
}

// The kernels of torch.optim's foreach implementations, one for each step of the arithmetic.
bool is_foreach(const Case& run, const ConfigUse& use) { return kernel_name(run, use) == "multi_tensor_apply_kernel"; }

// All of them are one finding: one setting replaces them.
void find_small_foreach(const Case& run, Findings& findings) {
  std::int64_t gpu_ns = 0, bound_ns = 0;
  std::string ops;
  const ConfigUse* largest = nullptr;
  for (const ConfigUse& use : run.configs) {
    const SmallGrid grid = grid_of(run, use);
    if (!is_foreach(run, use) || !grid.is_small()) continue;
    if (largest == nullptr) largest = &use;
    model::add_ns(gpu_ns, use.gpu_ns);
    model::add_ns(bound_ns, part_ns(use.gpu_ns, 1 - grid.blocks / grid.sms));
    const std::string type = use.op == model::kNone ? "" : shown(run.profile.fold.ops[use.op].type);
    if (!type.empty() && ops.size() < kMostOpsNamed && !contains(ops, type)) ops += (ops.empty() ? "" : ", ") + type;
  }
  if (largest == nullptr || run.percent_of_gpu_time(gpu_ns) < kLeastShare) return;
  const SmallGrid grid = grid_of(run, *largest);
  findings.push_back(
      of_config(run, *largest,
                fmt::format("The grids of the optimizer's foreach kernels ({}), {:.3g} % of the GPU time, are small: "
                            "{:.0f} blocks for {:.0f} multiprocessors in the longest.",
                            ops, run.percent_of_gpu_time(gpu_ns), grid.blocks, grid.sms),
                bound_ns, "Let one kernel do it all: pass fused=True to the optimizer, as torch.optim.Adam(..., fused=True)."));
}

void find_small_grids(const Case& run, Findings& findings) {
  find_small_foreach(run, findings);
  for_each_large_config(run, [&](const ConfigUse& use) {
    const SmallGrid grid = grid_of(run, use);
    if (!grid.is_small() || is_foreach(run, use) || is_collective(run, use)) return false;
    const bool library = is_library_kernel(run.profile.timeline.kernels[use.kernel]);
    findings.push_back(of_config(run, use,
                                 fmt::format("The grid of {} has {:.0f} block{} for {:.0f} multiprocessors.",
                                             share_text(run, use), grid.blocks, grid.blocks == 1 ? "" : "s", grid.sms),
                                 part_ns(use.gpu_ns, 1 - grid.blocks / grid.sms),
                                 library
                                     ? "Give the library more to do at once, with a larger batch: it chose this grid, and its "
                                       "kernel cannot be changed."
                                     : ""));
    return true;
  });
}

// Both throughputs were measured, and are low.
bool is_held_by_latency(const ConfigUse& use) {
  const auto sm = find(use.values, Quantity::sm_throughput);
  const auto memory = find(use.values, Quantity::memory_throughput);
  return sm && memory && std::max(*sm, *memory) < kBoundPercent;
}

void find_register_limits(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    if (!is_held_by_latency(use) || is_library_kernel(run.profile.timeline.kernels[use.kernel])) return false;
    const OccupancyAdvice advice = advise_occupancy(run.profile.timeline, use);
    if (!advice.theoretical || !advice.step || advice.step->registers_fewer == 0) return false;
    const model::Occupancy& now = *advice.theoretical;
    // A grid that fills no wave has no block to put there.
    if (now.percent > kLowOccupancy || now.waves <= 1) return false;
    findings.push_back(of_config(run, use,
                                 fmt::format("Registers hold the occupancy of {} to {:.3g} %, and neither compute nor memory "
                                             "reaches {:g} % of its peak.",
                                             share_text(run, use), now.percent, kBoundPercent),
                                 part_ns(use.gpu_ns, 1 - now.percent / advice.step->percent),
                                 step_text(advice) + ". " + kFewerRegisters));
    return true;
  });
}

void find_uncoalesced(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const double loads = find(use.values, Quantity::sectors_per_load).value_or(0);
    const double stores = find(use.values, Quantity::sectors_per_store).value_or(0);
    const double sectors = std::max(loads, stores);
    if (sectors < kMostSectors) return false;
    findings.push_back(
        of_config(run, use,
                  fmt::format("Warps of {} touch {:.3g} sectors with each {} of global memory: neighbouring threads "
                              "access places far apart.",
                              share_text(run, use), sectors, loads >= stores ? "load" : "store"),
                  part_ns(use.gpu_ns, 1 - kFewestSectors / sectors)));
    return true;
  });
}

void find_bank_conflicts(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const auto conflicts = find(use.values, Quantity::bank_conflicts);
    const auto wavefronts = find(use.values, Quantity::shared_wavefronts);
    if (!conflicts || !wavefronts || *wavefronts <= 0) return false;
    const double percent = 100 * std::min(*conflicts / *wavefronts, 1.0);
    if (percent <= kMostConflicts) return false;
    findings.push_back(of_config(
        run, use,
        fmt::format("{:.3g} % of the shared-memory wavefronts of {} are bank conflicts.", percent, share_text(run, use)),
        part_ns(use.gpu_ns, percent / 100)));
    return true;
  });
}

void find_divergence(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const auto threads = find(use.values, Quantity::active_threads);
    if (!threads || *threads <= 0 || *threads >= kFewestThreads) return false;
    findings.push_back(of_config(run, use,
                                 fmt::format("Of the {:g} threads of a warp of {} only {:.3g} are active per instruction.",
                                             kWarpThreads, share_text(run, use), *threads),
                                 part_ns(use.gpu_ns, 1 - *threads / kWarpThreads)));
    return true;
  });
}

}  // namespace

std::vector<Rule> kernel_rules() {
  return {
      {"small_grid", "Small Grid Detector", "A grid leaves multiprocessors without a block", "All",
       fmt::format("A kernel's grid has blocks for fewer than {:g} % of the multiprocessors.", kFilledPercent),
       "Nsight Compute's speed-of-light guidance: below 60 % of the peak a kernel is held back by latencies; with fewer "
       "multiprocessors at work their mean cannot be higher. The kernels of foreach optimizers are one finding. Collectives are "
       "left out.",
       "GPU time × the share of multiprocessors without a block.",
       "Give it more to do (a larger batch), split the work into more blocks (split-K), or run other kernels beside it on "
       "another stream.",
       "", find_small_grids},
      {"register_limited", "Register Limited Occupancy Detector", "Registers keep warps out", "All",
       fmt::format("Registers limit the theoretical occupancy to {:g} % or less, fewer would allow another block, the grid "
                   "has more than one wave, and compute and "
                   "memory are both below {:g} % of their peaks.",
                   kLowOccupancy, kBoundPercent),
       "CUDA C++ Best Practices Guide, on occupancy and register pressure; Nsight Compute's 60 %; the occupancy is ours.",
       "What the kernel would gain if it became faster by as much as the next step has more warps.", kFewerRegisters,
       "speed_of_light", find_register_limits},
      {"uncoalesced", "Uncoalesced Access Detector", "Warps access memory in pieces", "All",
       fmt::format(
           "A kernel's requests to global memory touch at least {:g} sectors of 32 bytes on average; neighbouring threads "
           "with 16 bytes each, the most there is, need {:g}.",
           kMostSectors, kCoalescedSectors),
       "CUDA C++ Best Practices Guide, coalesced access to global memory.",
       fmt::format("What the kernel would gain if a request touched {:g} sectors.", kFewestSectors),
       "Let neighbouring threads access neighbouring elements: another memory format (channels_last), a transpose through "
       "shared memory, structures of arrays.",
       "memory", find_uncoalesced},
      {"bank_conflicts", "Bank Conflict Detector", "Shared memory has bank conflicts", "All",
       fmt::format("More than {:g} % of a kernel's shared-memory wavefronts are bank conflicts.", kMostConflicts),
       "CUDA C++ Best Practices Guide, shared memory and memory banks; the figure is ours.",
       "That share of the kernel's GPU time.",
       "Pad rows of tiles in shared memory, or swizzle their addresses; of a library kernel try other tile sizes or layouts.",
       "memory", find_bank_conflicts},
      {"divergence", "Thread Divergence Detector", "Warps run with few of their threads", "All",
       fmt::format("Fewer than {:g} of the {:g} threads of a kernel's warps are active on average over its instructions.",
                   kFewestThreads, kWarpThreads),
       "CUDA C++ Best Practices Guide, branching and divergence; the figure is that of Nsight Compute 2025.3.",
       "GPU time × the share of idle threads.",
       "Let the threads of a warp take one path: sort or group the work by path, give each path to whole warps, move branches "
       "out of loops, or make both sides one by arithmetic; have blocks of whole warps.",
       "stall", find_divergence}};
}

}  // namespace dlkprof::advise
