// Arithmetic intensity and performance by precision, beside what compute and memory allow.
// (Williams, Waterman and Patterson: Roofline, Communications of the ACM 52(4), 2009.)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/quantities.h"

namespace dlkprof::advise {

struct Peak {
  double rate = 0;          // op/s or byte/s
  const char* source = "";  // how it was got: "counter", or "achieved / share of peak"
};

// The operations of one precision. An add or a multiplication is one operation, a fused multiply-add is two. Of FP16 outside of
// tensor cores each thread's instruction counts once, though it may work on two values: a lower bound, as its peak is.
struct RooflinePoint {
  const char* precision = "";  // "FP32", "Tensor FP16"
  double operations = 0;
  double rate = 0;                  // op/s
  std::optional<double> intensity;  // op/byte of DRAM; none where no byte moved
  std::optional<Peak> compute;
};

struct Roofline {
  double duration_ns = 0;
  std::optional<double> dram_bytes;
  std::optional<Peak> dram;
  bool counted = false;               // the operations were measured
  std::vector<RooflinePoint> points;  // of precisions with any operation, by operations, falling
};

// None where neither duration nor bytes were measured. Metrics of one launch, or those of Counters: sums of counts over
// launches, and means of all else.
[[nodiscard]] std::optional<Roofline> roofline_of(const Values& values);

// What compute and memory allow at the point's intensity: the lesser of the two roofs. None where one is not known.
[[nodiscard]] std::optional<double> attainable(const Roofline& roofline, const RooflinePoint& point);

}  // namespace dlkprof::advise
