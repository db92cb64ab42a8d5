#include "model/sass/sass.h"

#include <algorithm>

namespace dlkprof::model {

const SassInstruction* SassFunction::at(std::uint64_t offset) const {
  const auto found = std::lower_bound(instructions.begin(), instructions.end(), offset,
                                      [](const SassInstruction& one, std::uint64_t at) { return one.offset < at; });
  return found != instructions.end() && found->offset == offset ? &*found : nullptr;
}

}  // namespace dlkprof::model
