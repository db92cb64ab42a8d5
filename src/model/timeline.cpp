#include "model/timeline.h"

#include "model/timeline_loader.h"

namespace dlkprof::model {

Timeline load_timeline(std::span<const std::filesystem::path> captures) {
  TimelineLoader loader;
  for (const std::filesystem::path& capture : captures) loader.load(capture);
  return std::move(loader).finish();
}

}  // namespace dlkprof::model
