// The views of what was measured, and of what was not.
#pragma once

#include "store/schema.h"

namespace dlkprof::store {

[[nodiscard]] View metrics_view();
[[nodiscard]] View metric_samples_view();
[[nodiscard]] View coverage_view();

}  // namespace dlkprof::store
