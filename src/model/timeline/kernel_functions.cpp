#include "model/timeline/kernel_functions.h"

namespace dlkprof::model {

void KernelFunctions::loaded(std::uint32_t kernel, std::uint32_t function) {
  const auto [known, is_new] = loaded_.try_emplace(kernel, function);
  if (!is_new) known->second = 0;
}

void KernelFunctions::launched(std::uint32_t kernel, const capture::KeyStats& stats) {
  capture::LaunchKey key = stats.key;
  key.function = 0;
  const bool captured = stats.reason == capture::SkipReason::captured;
  const Launched found{stats.key.function, captured ? Sign::captured : stats.measured > 0 ? Sign::measured : Sign::none};
  const auto [known, is_new] = launched_.try_emplace({kernel, key}, found);
  if (is_new) return;
  if (found.sign == known->second.sign) {
    known->second.function = 0;
  } else if (found.sign > known->second.sign) {
    known->second = found;
  }
}

std::uint32_t KernelFunctions::find(std::uint32_t kernel, capture::LaunchKey key) const {
  const auto only = loaded_.find(kernel);
  if (only == loaded_.end()) return 0;
  if (only->second != 0) return only->second;
  key.function = 0;
  const auto known = launched_.find({kernel, key});
  return known != launched_.end() ? known->second.function : 0;
}

}  // namespace dlkprof::model
