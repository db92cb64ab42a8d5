// The key node that a user asks for, by the name or id of an op.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/fold/fold.h"
#include "model/fold/instances.h"
#include "model/fold/key_node.h"

namespace dlkprof::model {

// `ops` are Fold::ops and `marker_names` the name that each op's ranges add to their path. Throws UsageError where there is no
// such op, naming a near one, and where a name without path is that of several.
[[nodiscard]] KeyNode find_asked_key_node(const std::string& asked, const Timeline& timeline, const std::vector<Op>& ops,
                                          const std::vector<std::string>& marker_names, const Instances& instances);

}  // namespace dlkprof::model
