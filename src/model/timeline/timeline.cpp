#include "model/timeline/timeline.h"

#include <algorithm>
#include <tuple>

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

Timeline load_timeline(std::span<const std::filesystem::path> captures, RawEvaluator* evaluator) {
  TimelineLoader loader(evaluator, captures.size() > 1);
  for (const std::filesystem::path& capture : captures) loader.load(capture);
  return std::move(loader).finish();
}

}  // namespace dlkprof::model
