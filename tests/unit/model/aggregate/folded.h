// A timeline that was built for a test, folded and aggregated.
#pragma once

#include <algorithm>
#include <string>

#include "model/aggregate/aggregate.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::aggregate_test {

struct Folded {
  explicit Folded(const test::TimelineBuilder& builder, const IterationRange& range = {})
      : timeline(builder.build()), fold(model::fold(timeline)), made(aggregate(timeline, fold, range)) {}

  [[nodiscard]] const OpRow& op(const std::string& name) const {
    return *std::find_if(made.ops.begin(), made.ops.end(), [&](const OpRow& row) { return fold.ops[row.op].name == name; });
  }
  [[nodiscard]] const GroupRow& group(const std::string& name) const {
    return *std::find_if(made.groups.begin(), made.groups.end(),
                         [&](const GroupRow& row) { return fold.groups[row.group].name == name; });
  }
  [[nodiscard]] const OpTypeRow& type(const std::string& name) const {
    return *std::find_if(made.types.begin(), made.types.end(), [&](const OpTypeRow& row) { return row.type == name; });
  }

  Timeline timeline;
  Fold fold;
  Aggregate made;
};

}  // namespace dlkprof::model::aggregate_test
