#include "model/timeline/launched_functions.h"

namespace dlkprof::model {

void LaunchedFunctions::add(std::uint32_t kernel, const capture::KeyStats& stats) {
  capture::LaunchKey key = stats.key;
  key.function = 0;
  const Found found{.function = stats.key.function, .captured = stats.reason == capture::SkipReason::captured};
  const auto [known, is_new] = found_.try_emplace({kernel, key}, found);
  if (is_new) return;
  if (found.captured == known->second.captured) {
    known->second.function = 0;
  } else if (found.captured) {
    known->second = found;
  }
}

std::uint32_t LaunchedFunctions::find(std::uint32_t kernel, capture::LaunchKey key) const {
  key.function = 0;
  const auto known = found_.find({kernel, key});
  return known != found_.end() ? known->second.function : 0;
}

}  // namespace dlkprof::model
