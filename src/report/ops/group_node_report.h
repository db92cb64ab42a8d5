// The report `group_node`: a row a node of the op tree that has others below it (guide, 10.8). Its times are those of whole
// sub-trees, in which no kernel is counted twice; counters of single launches have no such union, so there are none.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows group_node_report(const Model& model);

}  // namespace dlkprof::report
