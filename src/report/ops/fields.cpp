#include "report/ops/fields.h"

#include <algorithm>
#include <cmath>

#include "report/launches/launch_text.h"

namespace dlkprof::report {

bool is_pytorch(const model::Fold& fold) {
  return std::any_of(fold.ops.begin(), fold.ops.end(), [](const model::Op& op) {
    return op.framework == model::Framework::pytorch || op.framework == model::Framework::dlkprof ||
           op.framework == model::Framework::pyprof;
  });
}

Cell direction_cell(model::Direction direction) { return text_cell(model::name_in(model::kDirections, direction)); }

Cell text_cell(const std::string& text) { return text.empty() ? Cell{} : Cell{text}; }

const std::string* whole_name(const model::Timeline& timeline, std::uint32_t kernel) {
  return kernel == model::kNone ? nullptr : &timeline.kernels[kernel].long_name;
}

Cell number_cell(const std::optional<double>& value) { return value && std::isfinite(*value) ? Cell{*value} : Cell{}; }

Fields<model::Op> op_name_fields(const model::Fold& fold) {
  Fields<model::Op> fields{{"Op ID", "", [](const model::Op& op) -> Cell { return op.id; }},
                           {"Op Name", "", [](const model::Op& op) -> Cell { return op.name; }}};
  if (is_pytorch(fold)) fields.push_back({"Direction", "", [](const model::Op& op) { return direction_cell(op.direction); }});
  return fields;
}

Fields<const capture::LaunchKey*> size_fields() {
  const auto size = [](const char* name, capture::Dim3 capture::LaunchKey::*dim) {
    return Field<const capture::LaunchKey*>{
        name, "", [dim](const capture::LaunchKey* key) { return key == nullptr ? Cell{} : Cell{dim_text(key->*dim)}; }};
  };
  return {size("Grid Size", &capture::LaunchKey::grid), size("Block Size", &capture::LaunchKey::block),
          size("Cluster Size", &capture::LaunchKey::cluster)};
}

}  // namespace dlkprof::report
