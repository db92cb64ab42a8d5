#include "model/timeline/timeline.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "capture/reader.h"
#include "model/timeline/timeline_loader.h"

namespace dlkprof::model {

const capture::FunctionRecord* function_of(const Timeline& timeline, const Config& config) {
  const auto wanted = std::tuple(config.process, config.key.function);
  const auto found = std::lower_bound(
      timeline.functions.begin(), timeline.functions.end(), wanted,
      [](const LoadedFunction& one, const auto& other) { return std::tuple(one.process, one.record.id) < other; });
  const bool known = found != timeline.functions.end() && std::tuple(found->process, found->record.id) == wanted;
  return known ? &found->record : nullptr;
}

const capture::DeviceRecord* device_of(const Timeline& timeline, const Config& config) {
  const auto& devices = timeline.processes[config.process].devices;
  const auto found = devices.find(config.key.device);
  return found == devices.end() ? nullptr : &timeline.devices[found->second].record;
}

namespace {

// One of many: what the others say is not to be lost.
std::optional<capture::Reader> open_unless_bad(const std::filesystem::path& capture, std::vector<Error>& bad) {
  try {
    return capture::Reader::open(capture);
  } catch (const Error& error) {
    bad.push_back(error);
    return std::nullopt;
  }
}

}  // namespace

Timeline load_timeline(std::span<const std::filesystem::path> captures, RawEvaluator* evaluator) {
  TimelineLoader loader(evaluator, captures.size() > 1);
  std::vector<Error> bad;
  for (const std::filesystem::path& capture : captures) {
    if (auto reader = open_unless_bad(capture, bad)) loader.load(std::move(*reader), capture);
  }
  if (!bad.empty() && bad.size() == captures.size()) throw Error(bad.front());
  for (const Error& error : bad) loader.leave_out(error);
  return std::move(loader).finish();
}

}  // namespace dlkprof::model
