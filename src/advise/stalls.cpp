#include "advise/stalls.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace dlkprof::advise {
namespace {

constexpr std::string_view kPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kSuffix = "_per_issue_active.ratio";

// Of PC sampling (cuptiPCSamplingGetStallReasons).
constexpr std::string_view kSampledPrefix = "smsp__pcsamp_warps_issue_stalled_";
struct OtherName {
  std::string_view sampled, counted;
};
// Counters call these otherwise.
constexpr OtherName kOtherNames[] = {{"no_instructions", "no_instruction"}, {"warpgroup_arrive", "gmma"}};

}  // namespace

const std::vector<StallReason>& stall_reasons() {
  static const std::vector<StallReason> kReasons{
      {"long_scoreboard", "a load from memory", "Warps wait for data from global, local, texture or surface memory.",
       "Have more loads in flight (more warps, or unrolled and asynchronous copies), access memory in whole sectors, and keep in "
       "shared memory what is used again."},
      {"short_scoreboard", "shared memory or a special function",
       "Warps wait for the result of shared memory, or of a special function such as exp or sin.",
       "Do fewer and wider accesses to shared memory, avoid bank conflicts, and use fast-math functions where precision allows."},
      {"barrier", "the other warps of the block", "Warps wait at a barrier for the others of their block.",
       "Even out the work between barriers, use smaller blocks, or more blocks a multiprocessor to work meanwhile."},
      {"mio_throttle", "the queue of shared memory and special functions",
       "The queue of the memory input/output units (shared memory, special functions, dynamic branches) is full.",
       "Combine narrow shared-memory accesses into wide ones, and mix in other arithmetic."},
      {"lg_throttle", "the queue of loads and stores", "The queue for loads and stores of local and global memory is full.",
       "Combine narrow accesses into wide ones (vectors of 16 bytes), and remove register spills."},
      {"tex_throttle", "the queue of the texture unit", "The queue of the texture unit is full.",
       "Issue fewer texture and surface fetches, or read through L1."},
      {"math_pipe_throttle", "a busy arithmetic pipe",
       "The arithmetic pipe that the next instruction needs is taken by other warps.",
       "This pipe is what limits the kernel: use another precision or tensor cores, or do less arithmetic."},
      {"wait", "the latency of an instruction", "Warps sit out the fixed latency of an instruction.",
       "Give each thread more independent instructions, or a scheduler more warps to choose from."},
      {"membar", "a memory barrier", "Warps wait for a memory barrier until their earlier accesses can be seen by others.",
       "Use fewer fences, or of a narrower scope (block rather than device)."},
      {"branch_resolving", "the target of a branch", "Warps wait until the target of a branch is known.",
       "Remove branches and calls from inner loops: predication, unrolling, inlining."},
      {"no_instruction", "the next instruction",
       "The next instruction is not in the instruction cache, or has not been fetched yet.",
       "Shorten the code of hot loops (less unrolling), or run more warps; kernels of a few instructions always show it."},
      {"imc_miss", "a constant", "Warps wait for a constant that is not in the immediate constant cache.",
       "Let all threads of a warp read the same few constants, or take them as kernel arguments."},
      {"dispatch_stall", "the dispatcher", "The dispatcher holds an instruction back for a conflict of resources.",
       "Seldom large; look at the mix of instructions where it is."},
      {"drain", "stores to be written", "Warps that have ended wait until their stores have been written.",
       "Store in whole sectors, and less at the very end of the kernel."},
      {"sleeping", "the end of a sleep", "Warps sleep, as their code tells them to.",
       "Sleep less, or wait for events instead of polling."},
      {"misc", "something rare", "Something rare that has no counter of its own.", "Seldom large; nothing in general helps."},
      {"gmma", "a matrix multiplication of the tensor cores",
       "Warps wait for the warp-group matrix multiplications of the tensor cores.",
       "Good where tensor cores are busy; else keep more of the multiplications in flight, with deeper pipelines of copies."},
      {"not_selected", "other warps that are ready", "Warps were ready, but another one was chosen.",
       "There are more warps than needed: larger tiles a warp would do no harm."},
      {"selected", "", "Warps issue an instruction: no wait.", ""},
  };
  return kReasons;
}

std::string stall_name(std::string_view sampled) {
  if (sampled.starts_with(kSampledPrefix)) sampled.remove_prefix(kSampledPrefix.size());
  for (const OtherName& other : kOtherNames) {
    if (sampled == other.sampled) return std::string(other.counted);
  }
  return std::string(sampled);
}

const StallReason* find_stall_reason(std::string_view name) {
  const std::vector<StallReason>& reasons = stall_reasons();
  const auto found = std::find_if(reasons.begin(), reasons.end(), [name](const StallReason& one) { return name == one.name; });
  return found == reasons.end() ? nullptr : &*found;
}

std::vector<Stall> stalls_of(const Values& values) {
  std::vector<Stall> stalls;
  double all = 0;
  for (auto value = values.lower_bound(std::string(kPrefix)); value != values.end(); ++value) {
    const std::string_view metric = value->first;
    if (!metric.starts_with(kPrefix)) break;
    if (!metric.ends_with(kSuffix) || metric.size() <= kPrefix.size() + kSuffix.size()) continue;
    if (!std::isfinite(value->second) || value->second <= 0) continue;
    const std::string_view name = metric.substr(kPrefix.size(), metric.size() - kPrefix.size() - kSuffix.size());
    stalls.push_back({std::string(name), find_stall_reason(name), value->second, 0});
    all += value->second;
  }
  if (!std::isfinite(all)) return {};
  for (Stall& stall : stalls) stall.percent = 100 * stall.cycles / all;
  // What is issued waits for nothing, and comes after all that does.
  const auto order = [](const Stall& stall) { return std::pair(!stall.waits(), -stall.cycles); };
  std::stable_sort(stalls.begin(), stalls.end(), [&](const Stall& a, const Stall& b) { return order(a) < order(b); });
  return stalls;
}

const Stall* top_wait(const std::vector<Stall>& stalls) {
  const auto top = std::find_if(stalls.begin(), stalls.end(), [](const Stall& stall) { return stall.waits(); });
  return top == stalls.end() ? nullptr : &*top;
}

}  // namespace dlkprof::advise
