// The fold itself as JSON, for --dump_model_data: key node, iterations, ops, groups, instances, as model/fold/fold.h has them,
// and which instance each kernel call belongs to. Indices count from 0 within their array; null stands for none. Times in ns.
#pragma once

#include "model/profile.h"
#include "report/format/rows.h"

namespace dlkprof::report {

void write_model(const model::Profile& profile, const Sink& sink);

}  // namespace dlkprof::report
