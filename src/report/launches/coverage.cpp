#include "report/launches/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "capture/options.h"
#include "model/aggregate/provenance.h"
#include "report/format/layout.h"
#include "report/launches/launch_text.h"
#include "report/launches/measured_lines.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTermWidth = 12;
constexpr std::size_t kMostNames = 5;  // kernels named a list; the rest is counted
constexpr std::size_t kMostSeen = 10;
constexpr std::size_t kMostNotices = 10;  // a broken capture can hold thousands
constexpr std::size_t kNameWidth = 46;
constexpr std::size_t kArgumentsWidth = 300;

struct KernelCount {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t gpu_ns = 0;
};

class CoverageWriter {
 public:
  explicit CoverageWriter(const model::Run& run) : run_(run), coverage_(run.coverage) {
    try {
      options_ = capture::options_from_json(run.process.options_json);
    } catch (const Error&) {
      // A capture need not hold readable options: what depends on them is left out.
    }
  }

  std::string write() {
    program();
    devices();
    launches();
    skipped();
    incomplete();
    near_misses();
    names_seen();
    gpu_time();
    pc_sampling();
    notices();
    entry("Capture", printable(run_.path.string()));
    return std::move(text_);
  }

 private:
  void program() {
    std::string arguments;
    for (const std::string& argument : run_.process.arguments) arguments += (arguments.empty() ? "" : " ") + argument;
    entry("Program", fmt::format("{} (process {} on {})", printable(arguments, kArgumentsWidth), run_.process.pid,
                                 printable(run_.process.host, kNameWidth)));
  }

  void devices() {
    if (run_.devices.empty()) entry("Device", "none: the process made no CUDA context");
    for (const auto& [index, device] : run_.devices) {
      entry("Device", fmt::format("{}: {}, {}, compute capability {}.{}, {}", index, printable(device.name, kNameWidth),
                                  printable(device.chip, kNameWidth), device.cc_major, device.cc_minor,
                                  counted(device.sm_count, "multiprocessor", "multiprocessors")));
    }
  }

  void launches() {
    std::string words =
        fmt::format("{} seen, {} matched, {} measured, {} left alone", with_separators(coverage_.launches),
                    with_separators(coverage_.matched), with_separators(coverage_.measured), with_separators(coverage_.skipped));
    entry("Launches", words);
    if (coverage_.graph_launches > 0) {
      entry("", fmt::format("and {}, whose kernels are not measured one by one",
                            counted(coverage_.graph_launches, "launch of a CUDA graph", "launches of CUDA graphs")));
    }
    if (coverage_.launches == 0 && coverage_.graph_launches == 0) entry("", "The process launched no kernel.");
    if (options_ && options_->collect == capture::Collect::sample) {
      entry("", "GPUs were sampled while they ran, not launch by launch: --reports sampling, utilization");
    }
    if (coverage_.measured == 0) return;
    std::string covered =
        fmt::format("Those measured stand for {} of the launches", percent_of(coverage_.covered, coverage_.launches));
    if (coverage_.timed > 0) {
      covered += fmt::format(" and {} of timed GPU time", percent_of(coverage_.covered_gpu_ns, coverage_.timed_gpu_ns));
    }
    entry("", covered + ", by launch configuration:");
    text_ += measured_lines(run_);
  }

  void skipped() {
    std::map<capture::SkipReason, std::vector<capture::KeyStats>> by_reason;
    for (const auto& [key, stats] : run_.keys) {
      if (stats.skipped > 0) by_reason[stats.reason].push_back(stats);
    }
    for (const auto& [reason, keys] : by_reason) {
      const auto kernels = count_kernels(keys, &capture::KeyStats::skipped);
      entry("Left alone", fmt::format("{} ({}): {}", skip_reason_text(reason), total(kernels), names_of(kernels)));
    }
  }

  // Launch configurations that the selector takes, of which too little was measured for no reason of their own.
  void incomplete() {
    const model::Wanted wanted = model::wanted_of(run_.process);
    for (const model::Incomplete why : {model::Incomplete::not_measured, model::Incomplete::too_few}) {
      std::vector<capture::KeyStats> keys;
      for (const auto& [key, stats] : run_.keys) {
        if (model::incomplete(stats, wanted) == why && stats.skipped == 0) keys.push_back(stats);
      }
      if (keys.empty()) continue;
      const auto kernels = count_kernels(keys, &capture::KeyStats::matched);
      entry("Incomplete", fmt::format("{} ({}): {}", model::incomplete_text(why), total(kernels), names_of(kernels)));
    }
  }

  void near_misses() {
    std::vector<capture::KeyStats> keys;
    for (const auto& [key, stats] : run_.keys) {
      if (stats.near_missed > 0) keys.push_back(stats);
    }
    if (keys.empty()) return;
    const auto kernels = count_kernels(keys, &capture::KeyStats::near_missed);
    entry("Near misses", fmt::format("{} misses {} whose name matches in another form ({} of timed GPU time):", selector(),
                                     total(kernels), percent_of(coverage_.near_missed_gpu_ns, coverage_.timed_gpu_ns)));
    for (std::size_t i = 0; i < std::min(kernels.size(), kMostNames); ++i) {
      entry("", fmt::format("- {}: {}, {}", kernels[i].name, counted(kernels[i].launches, "launch", "launches"),
                            percent_of(kernels[i].gpu_ns, coverage_.timed_gpu_ns)));
    }
    if (kernels.size() > kMostNames) entry("", fmt::format("- and {} more kernels", kernels.size() - kMostNames));
    entry("", "To measure them too: --kernel-name-base demangled");
  }

  // Where nothing was matched: what there was to pick, in the form that the selector is matched with.
  void names_seen() {
    if (coverage_.matched > 0 || coverage_.launches == 0) return;
    std::map<std::string, std::uint64_t> launches;
    for (const auto& [key, stats] : run_.keys) launches[matched_name(key.function)] += stats.launches;
    std::vector<std::pair<std::string, std::uint64_t>> names(launches.begin(), launches.end());
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    entry("Kernels", "None was matched. These were launched, most often first:");
    for (std::size_t i = 0; i < std::min(names.size(), kMostSeen); ++i) {
      entry("", fmt::format("- {}: {}", printable(names[i].first, kNameWidth), counted(names[i].second, "launch", "launches")));
    }
    if (names.size() > kMostSeen) entry("", fmt::format("- and {} more", names.size() - kMostSeen));
  }

  std::string matched_name(std::uint32_t function) const {
    const auto found = run_.functions.find(function);
    if (found == run_.functions.end()) return "(not known)";
    const bool in_full = options_ && options_->selection.kernel_name_base != "function";
    return in_full ? found->second.demangled : found->second.base_name;
  }

  // The selector as it was given: "::regex:gemm: under --kernel-name-base function".
  std::string selector() const {
    if (!options_) return "The selector";
    const capture::Selection& selection = options_->selection;
    const std::string& pattern = selection.kernel_id.empty() ? selection.kernel_name : selection.kernel_id;
    return fmt::format("{} under --kernel-name-base {}", printable(pattern, kNameWidth),
                       printable(selection.kernel_name_base, kNameWidth));
  }

  void gpu_time() {
    if (coverage_.timed > 0) {
      std::string words =
          fmt::format("{} in {} that {} timed; {} of it in kernels that the selector does not match",
                      duration(coverage_.timed_gpu_ns), counted(coverage_.timed, "launch", "launches"),
                      coverage_.timed == 1 ? "was" : "were", percent_of(coverage_.unmatched_gpu_ns, coverage_.timed_gpu_ns));
      entry("GPU time", words);
      if (!coverage_.timing_complete) entry("", "Not all launches are timed, to leave the program its speed.");
    } else if (coverage_.matched == 0 && coverage_.launches > 0 && coverage_.graph_gpu_ns == 0) {
      entry("GPU time", "Not taken, as nothing was selected; --timeline on times all launches.");
    }
    if (coverage_.graph_gpu_ns > 0)
      entry(coverage_.timed > 0 ? "" : "GPU time", fmt::format("{} more inside CUDA graphs", duration(coverage_.graph_gpu_ns)));
  }

  void pc_sampling() {
    if (!run_.pc_totals) return;
    const model::PcTotals& totals = *run_.pc_totals;
    const auto cycles = [](std::uint32_t log2) { return with_separators(std::uint64_t{1} << log2); };
    const std::string period = totals.shortest_log2 == totals.longest_log2
                                   ? cycles(totals.longest_log2)
                                   : cycles(totals.shortest_log2) + " to " + cycles(totals.longest_log2);
    entry("PC sampling", fmt::format("{}, a multiprocessor once in {} cycles; {} of no kernel of the program, {} dropped",
                                     counted(totals.samples, "sample", "samples"), period, with_separators(totals.foreign),
                                     with_separators(totals.dropped)));
    if (totals.overflows == 0) return;
    entry("", fmt::format("The hardware's buffer overflowed {}, and the samples of that time are lost.",
                          counted(totals.overflows, "time", "times")));
  }

  void notices() {
    const std::size_t shown = std::min(run_.notices.size(), kMostNotices);
    for (std::size_t i = 0; i < shown; ++i) {
      const capture::NoticeRecord& notice = run_.notices[i];
      std::string words = notice.what;
      if (!notice.detail.empty()) words += ": " + notice.detail;
      if (!words.ends_with('.')) words += '.';
      if (!notice.remedy.empty()) words += " " + notice.remedy;
      entry(label(notice.severity), printable(words));
    }
    if (shown < run_.notices.size()) entry("", fmt::format("and {} more notices", run_.notices.size() - shown));
  }

  static const char* label(capture::Severity severity) {
    if (severity == capture::Severity::error) return "Error";
    return severity == capture::Severity::warning ? "Warning" : "Note";
  }

  // Kernels of `keys` with the sum of `count`, most GPU time first, then most launches.
  std::vector<KernelCount> count_kernels(const std::vector<capture::KeyStats>& keys,
                                         std::uint64_t capture::KeyStats::*count) const {
    std::map<std::uint32_t, KernelCount> by_function;
    for (const capture::KeyStats& stats : keys) {
      KernelCount& kernel = by_function[stats.key.function];
      kernel.name = printable(demangled_name(run_, stats.key), kNameWidth);
      kernel.launches += stats.*count;
      kernel.gpu_ns += stats.timed_gpu_ns;
    }
    std::vector<KernelCount> kernels;
    for (auto& [function, kernel] : by_function) kernels.push_back(std::move(kernel));
    std::stable_sort(kernels.begin(), kernels.end(), [](const KernelCount& a, const KernelCount& b) {
      return a.gpu_ns != b.gpu_ns ? a.gpu_ns > b.gpu_ns : a.launches > b.launches;
    });
    return kernels;
  }

  static std::string names_of(const std::vector<KernelCount>& kernels) {
    std::string names;
    for (std::size_t i = 0; i < std::min(kernels.size(), kMostNames); ++i) {
      names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", kernels[i].name, with_separators(kernels[i].launches));
    }
    if (kernels.size() > kMostNames) names += fmt::format(", and {} more kernels", kernels.size() - kMostNames);
    return names;
  }

  static std::string total(const std::vector<KernelCount>& kernels) {
    std::uint64_t launches = 0;
    for (const KernelCount& kernel : kernels) launches += kernel.launches;
    return counted(launches, "launch", "launches");
  }

  void entry(const std::string& label, const std::string& words) {
    text_ += pad_right(label, kTermWidth) + wrap(words, kWidth, kTermWidth, kTermWidth) + "\n";
  }

  const model::Run& run_;
  const model::Coverage& coverage_;
  std::optional<capture::ProfileOptions> options_;
  std::string text_;
};

// What adds up over processes.
struct Sum {
  const char* name;
  const char* unit;
  std::uint64_t model::Coverage::*figure;
};
constexpr std::array kSums{Sum{"launches", "launch", &model::Coverage::launches},
                           Sum{"matched", "launch", &model::Coverage::matched},
                           Sum{"measured", "launch", &model::Coverage::measured},
                           Sum{"left_alone", "launch", &model::Coverage::skipped},
                           Sum{"near_missed", "launch", &model::Coverage::near_missed},
                           Sum{"graph_launches", "launch", &model::Coverage::graph_launches},
                           Sum{"timed", "launch", &model::Coverage::timed},
                           Sum{"timed_gpu_ns", "ns", &model::Coverage::timed_gpu_ns},
                           Sum{"unmatched_gpu_ns", "ns", &model::Coverage::unmatched_gpu_ns},
                           Sum{"near_missed_gpu_ns", "ns", &model::Coverage::near_missed_gpu_ns},
                           Sum{"graph_gpu_ns", "ns", &model::Coverage::graph_gpu_ns},
                           Sum{"covered", "launch", &model::Coverage::covered},
                           Sum{"covered_gpu_ns", "ns", &model::Coverage::covered_gpu_ns}};

struct CoverageTotals {
  std::uint64_t processes = 0;
  model::Coverage sum = {.timing_complete = true};
  bool ended = true;
  std::uint64_t damaged = 0;  // records
};

std::vector<CoverageFigure> figures_of(const CoverageTotals& totals) {
  std::vector<CoverageFigure> figures{{"processes", "", totals.processes}};
  for (const Sum& one : kSums) figures.push_back({one.name, one.unit, totals.sum.*one.figure});
  figures.push_back({"timing_complete", "", totals.sum.timing_complete ? "yes" : "no"});
  figures.push_back({"ended", "", totals.ended ? "yes" : "no"});
  figures.push_back({"damaged_records", "", totals.damaged});
  return figures;
}

}  // namespace

std::string coverage(const model::Run& run) { return CoverageWriter(run).write(); }

std::vector<CoverageFigure> coverage_figures(std::span<const model::Run> runs) {
  if (runs.empty()) return {};
  CoverageTotals totals;
  totals.processes = runs.size();
  for (const model::Run& run : runs) {
    for (const Sum& one : kSums) totals.sum.*one.figure += run.coverage.*one.figure;
    totals.sum.timing_complete = totals.sum.timing_complete && run.coverage.timing_complete;
    totals.ended = totals.ended && run.end.has_value();
    totals.damaged += run.read_state.damaged;
  }
  return figures_of(totals);
}

std::vector<CoverageFigure> coverage_figures(const model::Timeline& timeline) {
  if (timeline.counts.empty()) return {};
  CoverageTotals totals;
  totals.processes = timeline.processes.size();
  totals.sum = model::coverage_of(timeline);
  for (const model::Process& process : timeline.processes) {
    totals.ended = totals.ended && process.ended;
    totals.damaged += process.damaged_records;
  }
  return figures_of(totals);
}

}  // namespace dlkprof::report
