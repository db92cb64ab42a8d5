// Rules after the thresholds of NVIDIA's Compute Triage Guide (Nsight Compute 2026.3): can the figures be trusted, do warps
// issue, which pipe is in the way, do multiprocessors work alike, and at which line. Beside the last, at which line memory is
// asked for more than is needed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "advise/occupancy_advice.h"
#include "advise/rule_parts.h"
#include "advise/sampled_stalls.h"
#include "model/samples/instruction_counts.h"

namespace dlkprof::advise {
namespace {

constexpr const char* kGuide = "NVIDIA's Compute Triage Guide";

constexpr const char* kOfLibrary =
    "Give the library more to do at once, with a larger batch, or let it choose another algorithm: its code cannot be changed.";

constexpr double kMostTimes = 2;               // between two durations of a kernel
constexpr double kLeastTrustedNs = 1e4;        // ours: shorter kernels are timed too coarsely to be compared
constexpr double kStarvedIssue = 20;           // % of the cycles
constexpr double kLowIssue = 20;               // % of the instructions that could be issued
constexpr double kBusyPipe = 60;               // % of active cycles
constexpr double kFewestUnmasked = 24;         // threads of a warp, an instruction
constexpr double kMostMaskedApart = 4;         // ours: threads fewer than those active, so that it is predicates and not branches
constexpr double kUneven = 1.2;                // most active cycles of a multiprocessor, of their mean
constexpr double kHotLine = 30;                // % of the samples of its kernel
constexpr double kOneReason = 50;              // % of the samples of the line
constexpr std::uint64_t kFewestSamples = 100;  // ours, of the line: a share of 30 % is then known to some 5 points
constexpr double kMostExcess = 50;             // ours: % of the sectors of the line
constexpr double kHotExcess = 10;              // ours: % of the sectors of its kernel

// --- Figures ----------------------------------------------------------------------------------------------------------

// Its duration as measured, where that is far from its GPU time on the timeline; "" where it is not.
std::string other_duration(const ConfigUse& use) {
  const auto measured = find(use.values, Quantity::duration);
  if (!measured || use.timed == 0) return "";
  const double usual = static_cast<double>(use.gpu_ns) / static_cast<double>(use.timed);
  if (std::min(usual, *measured) < kLeastTrustedNs) return "";
  if (*measured < kMostTimes * usual && usual < kMostTimes * *measured) return "";
  return fmt::format("it took {:.3g} us where it was measured and {:.3g} us elsewhere", *measured / 1e3, usual / 1e3);
}

void find_doubtful(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const std::string why = other_duration(use);
    if (why.empty()) return false;
    Finding finding = of_config(
        run, use, fmt::format("Counters of {} may not be those of its usual launches: {}.", share_text(run, use), why), 0);
    finding.bound_ns.reset();
    findings.push_back(std::move(finding));
    return true;
  });
}

// --- Warps ------------------------------------------------------------------------------------------------------------

void find_partial_warps(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const capture::Dim3& block = run.profile.timeline.configs[use.config].key.block;
    const double threads = double{1} * block.x * block.y * block.z;
    const double whole = kWarpThreads * std::ceil(threads / kWarpThreads);
    if (threads <= 0 || threads == whole || is_library_kernel(run.profile.timeline.kernels[use.kernel])) return false;
    findings.push_back(of_config(run, use,
                                 fmt::format("Blocks of {} have {:.0f} threads: {:.0f} of the last warp's {:g} do nothing.",
                                             share_text(run, use), threads, whole - threads, kWarpThreads),
                                 part_ns(use.gpu_ns, 1 - threads / whole)));
    return true;
  });
}

void find_masked_threads(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const auto unmasked = find(use.values, Quantity::unmasked_threads);
    const auto active = find(use.values, Quantity::active_threads);
    if (!unmasked || !active || *unmasked <= 0 || *unmasked >= kFewestUnmasked) return false;
    if (*active - *unmasked < kMostMaskedApart) return false;  // what there is, thread divergence says
    findings.push_back(
        of_config(run, use,
                  fmt::format("Predicates turn off {:.3g} of the {:.3g} active threads of a warp of {} on average.",
                              *active - *unmasked, *active, share_text(run, use)),
                  part_ns(use.gpu_ns, 1 - *unmasked / *active)));
    return true;
  });
}

// --- Issue ------------------------------------------------------------------------------------------------------------

bool is_unsaturated(const Values& values) {
  const auto sm = find(values, Quantity::sm_throughput);
  const auto memory = find(values, Quantity::memory_throughput);
  return sm && memory && std::max(*sm, *memory) < kBoundPercent;
}

// Wide tensor instructions keep a pipe busy with few of them issued.
bool is_on_tensor_cores(const Values& values) { return find(values, Quantity::tensor_pipe).value_or(0) >= kBusyPipe; }

bool has_enough_blocks(const Case& run, const ConfigUse& use) {
  const capture::Dim3& grid = run.profile.timeline.configs[use.config].key.grid;
  const double sms = use.device == model::kNone ? 0 : run.profile.timeline.devices[use.device].record.sm_count;
  return sms > 0 && double{1} * grid.x * grid.y * grid.z >= sms;
}

void find_starved_issue(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const auto issues = find(use.values, Quantity::issue_active);
    if (!issues || *issues >= kStarvedIssue || !is_unsaturated(use.values)) return false;
    if (is_on_tensor_cores(use.values) || !has_enough_blocks(run, use)) return false;
    const std::vector<Stall> stalls = stalls_of(use.values);
    const Stall* const top = top_wait(stalls);
    const std::string waits =
        top == nullptr ? "" : fmt::format(", and warps mostly wait for {} ({:.3g} % of their cycles)", top->name, top->percent);
    const char* remedy = top == nullptr || top->reason == nullptr ? "" : top->reason->remedy;
    if (is_library_kernel(run.profile.timeline.kernels[use.kernel])) remedy = kOfLibrary;
    const double at_peak = *find(use.values, Quantity::memory_throughput) / 100;
    findings.push_back(
        of_config(run, use,
                  fmt::format("Schedulers of {} issue in {:.3g} % of the cycles, neither compute nor memory is near its peak{}.",
                              share_text(run, use), *issues, waits),
                  part_ns(use.gpu_ns, 1 - at_peak), remedy));
    return true;
  });
}

void find_slow_pipes(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const auto sm = find(use.values, Quantity::sm_throughput);
    const auto issued = find(use.values, Quantity::issued_of_peak);
    if (!sm || !issued || *sm <= kBusyPipe || *issued >= kLowIssue) return false;
    const double fp64 = find(use.values, Quantity::fp64_pipe).value_or(0), xu = find(use.values, Quantity::xu_pipe).value_or(0);
    if (std::max(fp64, xu) <= kBusyPipe) return false;
    const bool is_fp64 = fp64 >= xu;
    findings.push_back(of_config(
        run, use,
        fmt::format("In {} the pipe of {} is busy {:.3g} % of the time, with {:.3g} % of the instructions that could be issued.",
                    share_text(run, use), is_fp64 ? "double precision" : "special functions and conversions", std::max(fp64, xu),
                    *issued),
        part_ns(use.gpu_ns, 1 - *issued / 100), is_fp64 ? "Compute in single precision, where results allow it." : ""));
    return true;
  });
}

// --- Multiprocessors --------------------------------------------------------------------------------------------------

// What blocks of one length would make of it: where the last wave is not full, some multiprocessors have a block more than
// others.
double tail_of(const Case& run, const ConfigUse& use) {
  const OccupancyAdvice advice = advise_occupancy(run.profile.timeline, use);
  return 1 / (1 - advice.tail_percent.value_or(0) / 100);
}

void find_uneven_sms(const Case& run, Findings& findings) {
  for_each_large_config(run, [&](const ConfigUse& use) {
    const auto mean = find(use.values, Quantity::active_cycles), most = find(use.values, Quantity::most_active);
    if (!mean || !most || *mean <= 0 || !has_enough_blocks(run, use)) return false;
    const double uneven = *most / *mean, tail = tail_of(run, use);
    if (uneven <= kUneven * tail) return false;
    const bool is_library = is_library_kernel(run.profile.timeline.kernels[use.kernel]);
    findings.push_back(of_config(run, use,
                                 fmt::format("In {} the busiest multiprocessor works {:.3g} times as long as they do on average.",
                                             share_text(run, use), uneven),
                                 part_ns(use.gpu_ns, 1 - tail / uneven), is_library ? kOfLibrary : ""));
    return true;
  });
}

// --- Lines ------------------------------------------------------------------------------------------------------------

struct KernelUse {
  const ConfigUse* largest = nullptr;
  std::int64_t gpu_ns = 0;
};

KernelUse use_of(const Case& run, std::uint32_t kernel) {
  KernelUse all;
  for (const ConfigUse& use : run.configs) {
    if (use.kernel != kernel) continue;
    if (all.largest == nullptr) all.largest = &use;
    all.gpu_ns += use.gpu_ns;
  }
  return all;
}

// Cycles in which warps of a kernel did not issue, in % of all that were sampled.
double stalled_percent(const std::vector<SampledKernel>& kernels, std::uint32_t kernel) {
  const auto its =
      std::find_if(kernels.begin(), kernels.end(), [kernel](const SampledKernel& one) { return one.kernel == kernel; });
  if (its == kernels.end()) return 100;
  double percent = 0;
  for (const Stall& stall : its->stalls) percent += stall.waits() ? stall.percent : 0;
  return percent;
}

std::string awaited_text(const Stall& stall) {
  if (stall.reason == nullptr) return stall.name;
  return fmt::format("{} ({})", stall.reason->awaited, stall.name);
}

void find_hot_lines(const Case& run, Findings& findings) {
  const model::PcSamples& samples = run.profile.timeline.pc_samples;
  const std::vector<SampledKernel> kernels = sampled_kernels(samples);
  std::size_t found = 0;
  for (const SampledLine& line : sampled_lines(samples)) {
    const KernelUse use = use_of(run, line.kernel);
    const Stall* const top = top_wait(line.stalls);
    if (use.largest == nullptr || run.percent_of_gpu_time(use.gpu_ns) < kLeastShare || top == nullptr) continue;
    if (line.percent <= kHotLine || line.samples < kFewestSamples || top->percent <= kOneReason) continue;
    const std::string& path = samples.files[line.file];
    const std::string place = fmt::format("{}:{}", shown(path), line.line);
    const std::string in_its_folder = fmt::format("{}:{}", shown(path.substr(path.rfind('/') + 1)), line.line);
    const double of_kernel = line.percent / 100 * top->percent / 100;
    Finding finding = of_config(
        run, *use.largest,
        fmt::format("{:.3g} % of the stalls of {} are at {}, where warps wait for {}: {:.3g} % of its samples are there.",
                    100 * 100 * of_kernel / stalled_percent(kernels, line.kernel), shown(kernel_name(run, *use.largest)), place,
                    awaited_text(*top), line.percent),
        part_ns(use.gpu_ns, of_kernel),
        top->reason == nullptr ? "" : fmt::format("At {}: {}", in_its_folder, top->reason->remedy));
    finding.basis = fmt::format("PC sampling, {} samples at the line", line.samples);
    findings.push_back(std::move(finding));
    if (++found == kMostPlaces) return;
  }
}

// Of global memory, which the instructions of a kernel or of one of its lines ask for.
struct Sectors {
  double all = 0, excess = 0;
  std::uint64_t launches = 0;  // counted

  void add(double asked, double more, std::uint64_t counted) {
    all += asked;
    excess += more;
    launches = std::max(launches, counted);
  }
};

struct SectorTable {
  using Line = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // kernel, file, number; 0: not known
  std::map<std::uint32_t, Sectors> kernels;
  std::map<Line, Sectors> lines;
};

SectorTable count_sectors(const model::PcSamples& samples) {
  using model::SassMetric;
  const model::InstructionCounts counts(samples);
  SectorTable table;
  for (std::uint32_t i = 0; i < samples.instructions.size(); ++i) {
    const auto asked = counts.of(i, SassMetric::global_sectors);
    const auto excess = counts.excess(i, SassMetric::global_sectors, SassMetric::ideal_global_sectors);
    if (!asked || !excess) continue;
    const model::PcInstruction& at = samples.instructions[i];
    const std::uint32_t kernel = samples.functions[at.function].kernel;
    for (Sectors* sum : {&table.kernels[kernel], &table.lines[{kernel, at.file, at.line}]})
      sum->add(static_cast<double>(*asked), static_cast<double>(*excess), counts.launches(i));
  }
  return table;
}

void find_uncoalesced_lines(const Case& run, Findings& findings) {
  const model::PcSamples& samples = run.profile.timeline.pc_samples;
  const SectorTable table = count_sectors(samples);
  Findings found;
  for (const auto& [line, sectors] : table.lines) {
    const auto& [kernel, file, number] = line;
    const double of_kernel = table.kernels.at(kernel).all;
    if (number == 0 || sectors.excess * 100 <= kMostExcess * sectors.all || sectors.excess * 100 <= kHotExcess * of_kernel)
      continue;
    const bool timed = run.gpu_ns > 0;  // instructions are counted in a run without a timeline
    const KernelUse use = use_of(run, kernel);
    if (timed && (use.largest == nullptr || run.percent_of_gpu_time(use.gpu_ns) < kLeastShare)) continue;
    const std::string& name = run.profile.timeline.kernels[kernel].name;
    const std::string problem = fmt::format(
        "Of the sectors of global memory that {}:{} asks for in {}, {:.3g} % are more than its threads need: {:.3g} % of all "
        "that the kernel asks for.",
        shown(samples.files[file]), number, shown(name), 100 * sectors.excess / sectors.all, 100 * sectors.excess / of_kernel);
    Finding finding = timed ? of_config(run, *use.largest, problem, part_ns(use.gpu_ns, sectors.excess / of_kernel))
                            : of_run(run, problem, std::nullopt);
    finding.where = name;
    finding.basis = fmt::format("instructions counted in {} {}", sectors.launches, sectors.launches == 1 ? "launch" : "launches");
    found.push_back(std::move(finding));
  }
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.bound_ns > b.bound_ns; });
  if (found.size() > kMostPlaces) found.resize(kMostPlaces);
  std::move(found.begin(), found.end(), std::back_inserter(findings));
}

Rule uneven_sms_rule() {
  return {"uneven_sms",
          "Uneven Multiprocessor Detector",
          "Some multiprocessors work longer than others",
          "All",
          fmt::format(
              "The busiest multiprocessor is active for more than {:g} times as many cycles as they are on average, beyond what "
              "the last wave explains, and there is a block for each.",
              kUneven),
          fmt::format("{}, decision 7; that the last wave is set apart is ours.", kGuide),
          "The part of its GPU time in which multiprocessors wait for the busiest, on average.",
          "Give blocks equal work, or make them smaller and more, so that free multiprocessors take what is left.",
          "speed_of_light",
          find_uneven_sms};
}

}  // namespace

std::vector<Rule> triage_rules() {
  return {
      {"doubtful_figures", "Doubtful Figures Detector", "Counters may not be those of usual launches", "All",
       fmt::format(
           "A kernel's duration where it was measured and its GPU time elsewhere differ by a factor of {:g} or more, both "
           "being {:g} us or more. Shares above 100 % are left out of all figures anyway.",
           kMostTimes, kLeastTrustedNs / 1e3),
       fmt::format("{}, decision 0; the shortest duration is ours.", kGuide),
       "None: it is the figures that suffer, not the program.",
       "Measure it again with --replay-mode iteration, which replays nothing and leaves caches as the program has them, and see "
       "that nothing else uses the GPU.",
       "", find_doubtful},
      {"partial_warps", "Partial Warp Detector", "Blocks end in a warp that is not full", "All",
       fmt::format("The threads of a kernel's block are no multiple of {:g}; libraries' kernels are left out.", kWarpThreads),
       fmt::format("{}, decision 1.", kGuide), "The part of its GPU time that threads without work stand for.",
       "Have blocks of a multiple of 32 threads, and let those beyond the data do nothing.", "", find_partial_warps},
      {"masked_threads", "Masked Thread Detector", "Predicates turn threads off", "All",
       fmt::format("On average over its instructions, predicates leave fewer than {:g} threads of a warp on, and at least {:g} "
                   "fewer than are active.",
                   kFewestUnmasked, kMostMaskedApart),
       fmt::format("{}, decision 3 (24 threads); the difference is ours.", kGuide),
       "The part of its GPU time that threads turned off stand for.",
       "Make tiles fit the data, so that fewer threads are beyond its bounds, or give the rest to a kernel of its own.",
       "instruction", find_masked_threads},
      {"starved_issue", "Starved Issue Detector", "Schedulers have no warp to issue from", "All",
       fmt::format("Schedulers issue in less than {:g} % of a kernel's cycles, compute and memory are both below {:g} % of their "
                   "peaks, tensor cores below {:g} %, and there is a block for each multiprocessor.",
                   kStarvedIssue, kBoundPercent, kBusyPipe),
       fmt::format("{}, decisions 2 and 3.", kGuide), "Its GPU time above that at the peak of memory.",
       "Have more warps, or more independent instructions in each.", "scheduler", find_starved_issue},
      {"slow_pipe", "Slow Pipe Detector", "A slow pipe holds the multiprocessors back", "All",
       fmt::format("Compute is above {:g} % of its peak with less than {:g} % of the instructions that could be issued, and the "
                   "pipe of double precision or that of special functions and conversions is busy more than {:g} % of the time.",
                   kBusyPipe, kLowIssue, kBusyPipe),
       fmt::format("{}, decision 4.", kGuide), "Its GPU time, but for the share of instructions issued.",
       "Use fast-math functions (__expf, rsqrtf), and keep conversions between types out of inner loops.", "compute",
       find_slow_pipes},
      uneven_sms_rule(),
      {"hot_line", "Hot Line Detector", "One source line makes a kernel wait", "All",
       fmt::format(
           "More than {:g} % of the PC samples of a kernel are at one source line, at least {} of them, and more than {:g} "
           "% of these wait for one thing.",
           kHotLine, kFewestSamples, kOneReason),
       fmt::format("{}, decision 6; the number of samples is ours.", kGuide),
       "The part of the kernel's GPU time that these samples stand for.",
       "See what the line does: dlkprof report <file> --reports source", "", find_hot_lines},
      {"uncoalesced_line", "Uncoalesced Line Detector", "One source line asks for more memory than it needs", "All",
       fmt::format(
           "More than {:g} % of the sectors of global memory that a source line asks for are more than its threads need, and "
           "these are more than {:g} % of all that the kernel asks for.",
           kMostExcess, kHotExcess),
       "Nsight Compute's rule UncoalescedGlobalAccess, which reports any such sector; both figures are ours.",
       "These sectors' share of the kernel's GPU time.",
       "Let neighbouring threads access neighbouring elements; dlkprof report <file> --reports source has the instructions.",
       "source", find_uncoalesced_lines}};
}

}  // namespace dlkprof::advise
