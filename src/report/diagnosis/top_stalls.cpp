#include "report/diagnosis/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/sampled_stalls.h"
#include "base/text.h"
#include "report/format/layout.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kStalledKernelWidth = 36;
constexpr std::size_t kMostReasons = 3;

// "long_scoreboard 60 %, barrier 20 %": the largest waits.
std::string reasons_of(const advise::SampledKernel& kernel) {
  std::string text;
  std::size_t shown = 0;
  for (const advise::Stall& stall : kernel.stalls) {
    if (!stall.waits()) continue;
    if (shown++ == kMostReasons) break;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", printable(stall.name, kStalledKernelWidth), stall.percent);
  }
  return text;
}

// The largest wait of the first kernel, in a sentence.
std::string meaning_of(const advise::SampledKernel& kernel) {
  const auto wait = std::find_if(kernel.stalls.begin(), kernel.stalls.end(),
                                 [](const advise::Stall& stall) { return stall.waits() && stall.reason != nullptr; });
  if (wait == kernel.stalls.end()) return "";
  return wrap(fmt::format("{}: {} {}", wait->name, wait->reason->meaning, wait->reason->remedy), 80, 2, 0) + "\n";
}

}  // namespace

std::string top_stalls(const model::Profile& profile, std::size_t most) {
  const std::vector<advise::SampledKernel> kernels = advise::sampled_kernels(profile.timeline.pc_samples);
  if (kernels.empty()) return "";
  double all = 0;
  for (const advise::SampledKernel& kernel : kernels) all += kernel.cycles;
  std::string text = "What warps wait for, by PC sampling (--reports stall,source: all of it)\n";
  for (std::size_t i = 0; i < std::min(most, kernels.size()); ++i) {
    const advise::SampledKernel& kernel = kernels[i];
    const std::string name = printable(profile.timeline.kernels[kernel.kernel].name, kStalledKernelWidth);
    text += pad_left(fmt::format("{:.1f} %", 100 * kernel.cycles / all), 8) + "  " + pad_right(name, kStalledKernelWidth) + "\n" +
            std::string(10, ' ') + reasons_of(kernel) + "\n";
  }
  return text + meaning_of(kernels.front());
}

}  // namespace dlkprof::report
