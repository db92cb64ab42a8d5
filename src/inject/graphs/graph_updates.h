// Calls that change an executable graph of the program's.
#pragma once

#include <cupti.h>

#include "cupti/graph_nodes.h"

namespace dlkprof::inject {

// At the exit of such a call (DriverCalls::OfGraph::updates): has the nodes follow it. Whether launch configurations are others
// now.
bool follow_update(CUpti_CallbackId id, const CUpti_CallbackData& data, cupti::GraphNodes& nodes);

}  // namespace dlkprof::inject
