#include "report/ops/fields.h"

#include <algorithm>

namespace dlkprof::report {

bool is_pytorch(const model::Fold& fold) {
  return std::any_of(fold.ops.begin(), fold.ops.end(), [](const model::Op& op) {
    return op.framework == model::Framework::pytorch || op.framework == model::Framework::dlkprof ||
           op.framework == model::Framework::pyprof;
  });
}

const char* direction(model::Direction direction) {
  if (direction == model::Direction::none) return "";
  return direction == model::Direction::fprop ? "fprop" : "bprop";
}

Cell direction_cell(model::Direction replay_mode) { return text_cell(direction(replay_mode)); }

const char* tensor_core_source(model::TensorCoreSource source) {
  switch (source) {
    case model::TensorCoreSource::counter:
      return "counter";
    case model::TensorCoreSource::name:
      return "name";
    case model::TensorCoreSource::unknown:
      break;
  }
  return "unknown";
}

Cell text_cell(const std::string& text) { return text.empty() ? Cell{} : Cell{text}; }

}  // namespace dlkprof::report
