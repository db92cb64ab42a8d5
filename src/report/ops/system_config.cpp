#include "report/ops/summary_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

// The value of a fact; "" where nobody told it.
std::string fact(const model::Timeline& timeline, std::string_view source, std::string_view name) {
  for (const capture::Fact& one : timeline.facts) {
    if (one.source == source && one.name == name) return one.value;
  }
  return "";
}

// Each name once, in the order of the devices.
std::string gpu_names(const model::Timeline& timeline) {
  std::vector<std::string> names;
  for (const model::Device& device : timeline.devices) {
    if (std::find(names.begin(), names.end(), device.record.name) == names.end()) names.push_back(device.record.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// "PyTorch 2.11.0": those frameworks that told their version.
std::string frameworks(const model::Timeline& timeline) {
  std::vector<std::string> found;
  for (const auto& [source, shown] : {std::pair{"pytorch", "PyTorch"}, std::pair{"jax", "JAX"},
                                      std::pair{"tensorflow", "TensorFlow"}, std::pair{"tensorrt", "TensorRT"}}) {
    const std::string version = fact(timeline, source, "version");
    if (!version.empty()) found.push_back(fmt::format("{} {}", shown, version));
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

// What the program was built with where its framework tells it, else what the driver offers: 1000 * major + 10 * minor.
std::string cuda_version(const model::Timeline& timeline) {
  const std::string told = fact(timeline, "pytorch", "cuda.version");
  if (!told.empty() || timeline.processes.empty()) return told;
  const std::uint32_t version = timeline.processes.front().record.driver_version;
  return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// "9.19.0" of what cuDNN itself says: 91900; before version 9 thousands stand for the major one.
std::string cudnn_version(const model::Timeline& timeline) {
  const std::string told = fact(timeline, "pytorch", "cudnn.version");
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(told.data(), told.data() + told.size(), number);
  if (failure != std::errc() || end != told.data() + told.size()) return told;
  const std::uint32_t major = number < 10'000 ? 1'000 : 10'000;
  return fmt::format("{}.{}.{}", number / major, number % major / 100, number % 100);
}

// Of all processes the worst; empty where one does not know.
Cell clock_bound(const model::Timeline& timeline, std::int64_t model::Process::*bound) {
  std::int64_t worst = 0;
  for (const model::Process& process : timeline.processes) {
    if (process.*bound < 0) return {};
    worst = std::max(worst, process.*bound);
  }
  return timeline.processes.empty() ? Cell{} : Cell{worst};
}

}  // namespace

std::vector<std::pair<std::string, Cell>> system_config(const model::Timeline& timeline, const std::string& profile_name) {
  const std::string version = timeline.processes.empty() ? "" : timeline.processes.front().record.dlkprof_version;
  std::vector<std::pair<std::string, Cell>> rows;
  if (!profile_name.empty()) rows.emplace_back("Profile Name", profile_name);
  rows.emplace_back("GPU Count", std::uint64_t{timeline.devices.size()});
  rows.emplace_back("GPU Name(s)", text_cell(gpu_names(timeline)));
  rows.emplace_back("CPU Model", text_cell(fact(timeline, "system", "cpu.model")));
  rows.emplace_back("GPU Driver Version", text_cell(fact(timeline, "system", "driver.version")));
  rows.emplace_back("Framework", text_cell(frameworks(timeline)));
  rows.emplace_back("CUDA Version", text_cell(cuda_version(timeline)));
  rows.emplace_back("cuDNN Version", text_cell(cudnn_version(timeline)));
  rows.emplace_back("NSys Version", Cell{});  // no part of it: dlkprof takes the timeline itself
  rows.emplace_back("DLProf Version", text_cell(version.empty() ? "" : "dlkprof " + version));
  rows.emplace_back("DLProf Build", Cell{});
  rows.emplace_back("GPU Times Early By At Most (ns)", clock_bound(timeline, &model::Process::gpu_early_ns));
  rows.emplace_back("GPU Times Late By At Most (ns)", clock_bound(timeline, &model::Process::gpu_late_ns));
  return rows;
}

}  // namespace dlkprof::report
