// The key node: what happens once an iteration, and whose ends part iterations (guide, chapters 7 and 9).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/fold/fold.h"
#include "model/markers/range_markers.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

struct KeyNode {
  std::string name;
  KeyNodeSource source = KeyNodeSource::none;
  std::vector<std::int64_t> stops;  // where it ended
};

// One run of the key node.
struct KeyInstance {
  std::int64_t stop_ns = 0;
  std::uint32_t thread = 0;      // index into Timeline::threads
  std::uint32_t device = kNone;  // index into Timeline::devices: where its first work ran
};

// By what frameworks mark; else the module that a generating loop calls (token_lengths.h); else by repetition of the sequence of
// launches.
[[nodiscard]] KeyNode find_key_node(const Timeline& timeline, const RangeMarkers& markers, const TextTable& texts);

// Of each range the device that its first work ran on, inner ranges' included; empty where there are no two devices.
[[nodiscard]] std::vector<std::uint32_t> find_range_devices(const Timeline& timeline);

// Where iterations begin. With several GPUs that have equally many instances each, the n-th ones of all GPUs stand for one;
// else every instance counts (guide, chapter 9).
[[nodiscard]] std::vector<std::int64_t> find_stops(const Timeline& timeline, std::vector<KeyInstance> instances);

}  // namespace dlkprof::model
