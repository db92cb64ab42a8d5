// Op instances: ranges, and calls and work outside of them, with what they did.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fold/compiled_launches.h"
#include "model/fold/fold.h"
#include "model/fold/op_paths.h"
#include "model/fold/op_table.h"
#include "model/fold/op_tree.h"
#include "model/markers/range_markers.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// An instance that is no range: a call outside of all ranges with its work of one kernel, or work whose call is not known; what a
// graph launch ran of one range that was open when the graph was captured; or a launch of compiled code without a range of its
// own.
struct Outside {
  std::int64_t start_ns = 0, end_ns = 0;  // of the call, or of the work
  std::uint32_t call = kNone;
  std::uint32_t kernel = kNone;    // kNone: the call caused no work
  std::uint32_t captured = kNone;  // of a graph launch: the range, as CapturedOps numbers it
  std::uint32_t instance = kNone;  // index into Instances::all
  bool first = true;               // of its call, whose length counts once
  // Of compiled code: what CompiledLaunches, which it points into, knows by its call or by a node of a CUDA graph; else null.
  const CompiledLaunches::Unit* unit = nullptr;
  std::uint32_t node = kNone;  // of that graph; else kNone
};

struct Instances {
  std::vector<OpInstance> all;                   // by start on the CPU; iterations are not set
  std::vector<std::uint32_t> activity_instance;  // of each work
  std::vector<Outside> outside;                  // those that are no ranges, by `instance`
};

// Adds ops to `table`, types to `texts`, and names of unassociated ops to `tree`.
[[nodiscard]] Instances make_instances(const Timeline& timeline, const RangeMarkers& markers, const CompiledLaunches& compiled,
                                       OpPaths paths, OpTree& tree, TextTable& texts, OpTable& table);

// The innermost range around a call that counts, or kNone.
[[nodiscard]] inline std::uint32_t counted_range(const RangeMarkers& markers, const OpPaths& paths, const Call& call) {
  return call.range == kNone || markers.counts(call.range) ? call.range : paths.parent[call.range];  // not empty, then
}

// Fold::call_ns of Instances::all.
[[nodiscard]] std::vector<std::int64_t> measure_calls(const Timeline& timeline, const Instances& instances);

}  // namespace dlkprof::model
