// A run as everything after loading sees it: what its captures say, folded into ops and iterations, and summed over a range of
// iterations. Rules, reports and the database are all made from one.
#pragma once

#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

struct Profile {
  Timeline timeline;
  Fold fold;
  Aggregate aggregate;
  FoldOptions options;   // what was asked for: of the fold,
  IterationRange range;  // and of the aggregate

  // Whether there is anything to show of ops.
  [[nodiscard]] bool has_ops() const { return !aggregate.ops.empty(); }
};

}  // namespace dlkprof::model
