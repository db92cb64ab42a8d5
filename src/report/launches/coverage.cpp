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
#include "model/aggregate/coverage.h"
#include "model/aggregate/provenance.h"
#include "report/format/layout.h"
#include "report/launches/launch_text.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTermWidth = 12;
constexpr std::size_t kMostNames = 5;  // kernels named a list; the rest is counted
constexpr std::size_t kMostSeen = 10;
constexpr std::size_t kMostNotices = 10;  // a broken capture can hold thousands
constexpr std::size_t kNameWidth = 46;
constexpr std::size_t kArgumentsWidth = 300;

std::string entry_text(const std::string& label, const std::string& words) {
  return pad_right(label, kTermWidth) + wrap(words, kWidth, kTermWidth, kTermWidth) + "\n";
}

struct KernelCount {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t gpu_ns = 0;
};

using model::LaunchCounts;

class CoverageWriter {
 public:
  CoverageWriter(const model::Timeline& timeline, std::uint32_t number)
      : timeline_(timeline),
        number_(number),
        process_(timeline.processes[number]),
        coverage_(model::coverage_of(timeline, number)) {
    try {
      options_ = capture::options_from_json(process_.record.options_json);
    } catch (const Error&) {
      // A capture need not hold readable options: what depends on them is left out.
    }
    for (const LaunchCounts& counts : timeline.counts) {
      if (counts.process == number) counts_.push_back(counts);
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
    entry("Capture", process_.capture);
    return std::move(text_);
  }

 private:
  void program() {
    std::string arguments;
    for (const std::string& argument : process_.record.arguments) arguments += (arguments.empty() ? "" : " ") + argument;
    entry("Program", fmt::format("{} (process {} on {})", printable(arguments, kArgumentsWidth), process_.record.pid,
                                 printable(process_.record.host, kNameWidth)));
  }

  void devices() {
    if (process_.devices.empty()) entry("Device", "none: the process made no CUDA context");
    for (const auto& [index, number] : process_.devices) {
      const capture::DeviceRecord& device = timeline_.devices[number].record;
      entry("Device", fmt::format("{}: {}, {}, compute capability {}.{}, {}", index, printable(device.name, kNameWidth),
                                  printable(device.chip, kNameWidth), device.cc_major, device.cc_minor,
                                  counted(device.sm_count, "multiprocessor", "multiprocessors")));
    }
  }

  void launches() {
    std::string words =
        fmt::format("{} seen, {} matched, {} measured, {} skipped", with_separators(coverage_.launches),
                    with_separators(coverage_.matched), with_separators(coverage_.measured), with_separators(coverage_.skipped));
    entry("Launches", words);
    if (coverage_.graph_launches > 0) {
      entry("", fmt::format("and {}, whose kernels count where they were measured one by one",
                            counted(coverage_.graph_launches, "launch of a CUDA graph", "launches of CUDA graphs")));
    }
    if (coverage_.launches == 0 && coverage_.graph_launches == 0) entry("", "The process launched no kernel.");
    if (options_ && options_->collect == capture::Collect::sample) {
      entry("", "GPUs were sampled while they ran, not launch by launch: --reports sampling, utilization");
    }
    if (coverage_.measured == 0) return;
    std::string covered =
        fmt::format("Those measured stand for {} of the launches", percent_of(coverage_.covered, coverage_.launches));
    if (coverage_.gpu_ns > 0) {
      covered += fmt::format(" and {} of all GPU time", percent_of(coverage_.covered_gpu_ns, coverage_.gpu_ns));
    }
    entry("", covered + ", by launch configuration:");
    text_ += measured_lines(timeline_, number_);
  }

  void skipped() {
    std::map<capture::SkipReason, std::vector<LaunchCounts>> by_reason;
    for (const LaunchCounts& counts : counts_) {
      if (counts.skipped > 0) by_reason[counts.reason].push_back(counts);
    }
    for (const auto& [reason, lines] : by_reason) {
      const auto kernels = count_kernels(lines, &LaunchCounts::skipped);
      entry("Skipped", fmt::format("{} ({}): {}", skip_reason_text(reason), total(kernels), names_of(kernels)));
    }
  }

  // Launch configurations that the selector takes, of which too little was measured for no reason of their own.
  void incomplete() {
    const model::Wanted wanted = model::wanted_of(process_.record);
    for (const model::Incomplete why : {model::Incomplete::not_measured, model::Incomplete::too_few}) {
      std::vector<LaunchCounts> lines;
      for (const LaunchCounts& counts : counts_) {
        if (model::incomplete(counts, wanted) == why && counts.skipped == 0) lines.push_back(counts);
      }
      if (lines.empty()) continue;
      const auto kernels = count_kernels(lines, &LaunchCounts::matched);
      entry("Incomplete", fmt::format("{} ({}): {}", model::incomplete_text(why), total(kernels), names_of(kernels)));
    }
  }

  void near_misses() {
    std::vector<LaunchCounts> lines;
    for (const LaunchCounts& counts : counts_) {
      if (counts.near_missed > 0) lines.push_back(counts);
    }
    if (lines.empty()) return;
    const auto kernels = count_kernels(lines, &LaunchCounts::near_missed);
    entry("Near misses", fmt::format("{} misses {} whose name matches in another form ({} of all GPU time):", selector(),
                                     total(kernels), percent_of(coverage_.near_missed_gpu_ns, coverage_.gpu_ns)));
    for (std::size_t i = 0; i < std::min(kernels.size(), kMostNames); ++i) {
      entry("", fmt::format("- {}: {}, {}", kernels[i].name, counted(kernels[i].launches, "launch", "launches"),
                            percent_of(kernels[i].gpu_ns, coverage_.gpu_ns)));
    }
    if (kernels.size() > kMostNames) entry("", fmt::format("- and {} more kernels", kernels.size() - kMostNames));
    entry("", "To measure them too: --kernel-name-base demangled");
  }

  // Where nothing was matched: what there was to pick, in the form that the selector is matched with.
  void names_seen() {
    if (coverage_.matched > 0 || coverage_.launches == 0) return;
    std::map<std::string, std::uint64_t> launches;
    for (const LaunchCounts& counts : counts_) launches[matched_name(counts.kernel)] += counts.launches;
    std::vector<std::pair<std::string, std::uint64_t>> names(launches.begin(), launches.end());
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    entry("Kernels", "None was matched. These were launched, most often first:");
    for (std::size_t i = 0; i < std::min(names.size(), kMostSeen); ++i) {
      entry("", fmt::format("- {}: {}", printable(names[i].first, kNameWidth), counted(names[i].second, "launch", "launches")));
    }
    if (names.size() > kMostSeen) entry("", fmt::format("- and {} more", names.size() - kMostSeen));
  }

  std::string matched_name(std::uint32_t kernel) const {
    if (kernel == model::kNone) return "(not known)";
    const bool in_full = options_ && options_->selection.kernel_name_base != "function";
    return in_full ? timeline_.kernels[kernel].long_name : timeline_.kernels[kernel].name;
  }

  // The selector as it was given: "::regex:gemm: under --kernel-name-base function".
  std::string selector() const {
    if (!options_) return "The selector";
    const capture::Selection& selection = options_->selection;
    const std::string& pattern = selection.kernel_id.empty() ? selection.kernel_name : selection.kernel_id;
    return fmt::format("{} under --kernel-name-base {}", printable(pattern, kNameWidth),
                       printable(selection.kernel_name_base, kNameWidth));
  }

  // The whole, its parts, and what the selector leaves out.
  void gpu_time() {
    if (coverage_.gpu_ns == 0) {
      if (coverage_.matched > 0 || coverage_.launches == 0) return;
      return entry("GPU time", "Not taken, as nothing was selected; --timeline on times all launches.");
    }
    std::string parts;
    const auto part = [&parts](std::uint64_t ns, const std::string& what) {
      if (ns > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", duration(ns), what);
    };
    part(coverage_.timed_gpu_ns, "in " + counted(coverage_.timed, "launch", "launches"));
    part(coverage_.measured_gpu_ns, "in launches while they were measured");
    part(coverage_.graph_gpu_ns, "inside CUDA graphs");
    part(coverage_.copy_gpu_ns, "in copies and sets");
    entry("GPU time", fmt::format("{} in all: {}", duration(coverage_.gpu_ns), parts));
    if (coverage_.unmatched_gpu_ns > 0) {
      entry("", fmt::format("{} of all GPU time is in kernels that the selector does not match.",
                            percent_of(coverage_.unmatched_gpu_ns, coverage_.gpu_ns)));
    }
    if (!coverage_.timing_complete) entry("", "Not all launches are timed, to leave the program its speed.");
  }

  void pc_sampling() {
    std::optional<model::PcTotals> sum;  // over the process's GPUs
    for (const model::PcTotals& totals : timeline_.pc_samples.totals) {
      if (totals.process != number_) continue;
      if (!sum) sum = model::PcTotals{.shortest_log2 = totals.shortest_log2, .longest_log2 = totals.longest_log2};
      sum->shortest_log2 = std::min(sum->shortest_log2, totals.shortest_log2);
      sum->longest_log2 = std::max(sum->longest_log2, totals.longest_log2);
      for (const auto number :
           {&model::PcTotals::samples, &model::PcTotals::foreign, &model::PcTotals::dropped, &model::PcTotals::overflows}) {
        (*sum).*number += totals.*number;
      }
    }
    if (!sum) return;
    const auto cycles = [](std::uint32_t log2) { return with_separators(std::uint64_t{1} << log2); };
    const std::string period = sum->shortest_log2 == sum->longest_log2
                                   ? cycles(sum->longest_log2)
                                   : cycles(sum->shortest_log2) + " to " + cycles(sum->longest_log2);
    entry("PC sampling", fmt::format("{}, a multiprocessor once in {} cycles; {} of no kernel of the program, {} dropped",
                                     counted(sum->samples, "sample", "samples"), period, with_separators(sum->foreign),
                                     with_separators(sum->dropped)));
    if (sum->overflows == 0) return;
    entry("",
          fmt::format("PC samples were lost: the hardware's buffer overflowed {}.", counted(sum->overflows, "time", "times")));
  }

  // Kernels of `lines` with the sum of `count`, most GPU time first, then most launches.
  std::vector<KernelCount> count_kernels(const std::vector<LaunchCounts>& lines, std::uint64_t LaunchCounts::*count) const {
    std::map<std::uint32_t, KernelCount> by_kernel;
    for (const LaunchCounts& counts : lines) {
      KernelCount& kernel = by_kernel[counts.kernel];
      kernel.name = counts.kernel == model::kNone ? "unknown" : printable(timeline_.kernels[counts.kernel].long_name, kNameWidth);
      kernel.launches += counts.*count;
      kernel.gpu_ns += counts.timed_gpu_ns;
    }
    std::vector<KernelCount> kernels;
    for (auto& [number, kernel] : by_kernel) kernels.push_back(std::move(kernel));
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

  void entry(const std::string& label, const std::string& words) { text_ += entry_text(label, words); }

  const model::Timeline& timeline_;
  std::uint32_t number_;
  const model::Process& process_;
  model::Coverage coverage_;
  std::vector<LaunchCounts> counts_;
  std::optional<capture::ProfileOptions> options_;
  std::string text_;
};

std::string notices_text(const std::vector<capture::NoticeRecord>& notices) {
  const std::size_t shown = std::min(notices.size(), kMostNotices);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const capture::NoticeRecord& notice = notices[i];
    std::string words = notice.what;
    if (!notice.detail.empty()) words += ": " + notice.detail;
    if (!words.ends_with('.')) words += '.';
    if (!notice.remedy.empty()) words += " " + notice.remedy;
    text += entry_text(notice_label(notice.severity), printable(words));
  }
  if (shown < notices.size()) text += entry_text("", fmt::format("and {} more notices", notices.size() - shown));
  return text;
}

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
                           Sum{"measured_gpu_ns", "ns", &model::Coverage::measured_gpu_ns},
                           Sum{"copy_gpu_ns", "ns", &model::Coverage::copy_gpu_ns},
                           Sum{"gpu_ns", "ns", &model::Coverage::gpu_ns},
                           Sum{"covered", "launch", &model::Coverage::covered},
                           Sum{"covered_gpu_ns", "ns", &model::Coverage::covered_gpu_ns}};

}  // namespace

std::string coverage(const model::Timeline& timeline) {
  std::string text;
  for (std::uint32_t i = 0; i < timeline.processes.size(); ++i) {
    text += (i == 0 ? "" : "\n") + CoverageWriter(timeline, i).write();
  }
  return text + notices_text(timeline.notices);
}

std::vector<CoverageFigure> coverage_figures(const model::Timeline& timeline) {
  if (timeline.counts.empty()) return {};
  const model::Coverage sum = model::coverage_of(timeline);
  bool ended = true;
  std::uint64_t damaged = 0;
  for (const model::Process& process : timeline.processes) {
    ended = ended && process.ended;
    damaged += process.damaged_records;
  }
  std::vector<CoverageFigure> figures{{"processes", "", std::uint64_t{timeline.processes.size()}}};
  for (const Sum& one : kSums) figures.push_back({one.name, one.unit, sum.*one.figure});
  figures.push_back({"timing_complete", "", sum.timing_complete ? "yes" : "no"});
  figures.push_back({"ended", "", ended ? "yes" : "no"});
  figures.push_back({"damaged_records", "", damaged});
  return figures;
}

}  // namespace dlkprof::report
