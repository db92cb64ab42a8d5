// Calls that change an executable graph of the program's.
#pragma once

#include <cupti.h>

#include "cupti/graph_nodes.h"

namespace dlkprof::inject {

// At the exit of such a call (DriverCalls::OfGraph::updates): has the nodes follow it. Whether launch configurations are others
// now.
bool follow_update(CUpti_CallbackId id, const CUpti_CallbackData& data, cupti::GraphNodes& nodes);

// Of such a call that has set all of it to what a graph does: that graph. Null of any other.
[[nodiscard]] CUgraph graph_set_to(CUpti_CallbackId id, const CUpti_CallbackData& data);

}  // namespace dlkprof::inject
