// What a diagnosis is about: a run, folded and aggregated.
#pragma once

#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"
#include "model/timeline/timeline.h"

namespace dlkprof::advise {

// All of it outlives what is made from it.
struct Subject {
  const model::Timeline& timeline;
  const model::Fold& fold;
  const model::Aggregate& aggregate;
};

}  // namespace dlkprof::advise
