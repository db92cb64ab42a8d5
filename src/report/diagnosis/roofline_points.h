// What the report `roofline` shows, as rows and as a picture.
#pragma once

#include <optional>
#include <vector>

#include "advise/roofline.h"
#include "report/diagnosis/diagnosis_rows.h"

namespace dlkprof::report {

struct RooflineRow : DiagnosisRow {
  advise::Roofline roofline;
  std::optional<advise::RooflinePoint> point;  // none where no operation was counted
  // Of most operations of its op or kernel.
  [[nodiscard]] bool is_dominant() const {
    return point && !roofline.points.empty() && point->operations == roofline.points.front().operations;
  }
};

[[nodiscard]] std::vector<RooflineRow> roofline_rows(const model::Profile& profile);

}  // namespace dlkprof::report
