// When a GPU had one thing to do and nothing else: what it counted then is that one's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

struct KernelSpan {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t activity = 0;  // index into the works given
};

// Of the kernels on a device (index into Timeline::devices), by start, disjoint. Copies and sets count as company, as they move
// memory, but have no spans of their own. Where the timed works of a kernel are interrupted by another's it has several.
[[nodiscard]] std::vector<KernelSpan> spans_alone(std::span<const Activity> activities, std::uint32_t device);

// All that ran on a device, by when it began and ended.
struct Occupation {
  std::vector<std::int64_t> starts, ends;  // sorted, each by itself
  // Works that had some of an interval.
  [[nodiscard]] std::size_t count(std::int64_t start_ns, std::int64_t end_ns) const;
};
[[nodiscard]] Occupation occupation(std::span<const Activity> activities, std::uint32_t device);

// The last span that has some of an interval; null where none has. Where only one work had some of it, it is that one's.
[[nodiscard]] const KernelSpan* span_within(std::span<const KernelSpan> spans, std::int64_t start_ns, std::int64_t end_ns);

}  // namespace dlkprof::model
