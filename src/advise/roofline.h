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
// tensor cores each thread's instruction counts once, though it may work on two values: a lower bound, as its peak is. HFMA alone
// is no arithmetic where it is rare: compilers load constants with it (model/aggregate/tensor_core_use.h), and convert FP16 with
// HADD. So FP16 has a point where there are multiplications, or where its instructions are a tenth of all: on an H200, moves and
// conversions were at most 2.9 % of them.
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
  std::optional<double> l2_bytes, l1_bytes;
  std::optional<Peak> dram, l2, l1;
  bool counted = false;               // the operations were measured
  std::vector<RooflinePoint> points;  // of precisions with any operation, by operations, falling: the first is the dominant one
};

// None where neither duration nor bytes were measured. Metrics of one launch, or those of Counters: sums of counts over
// launches, and means of all else.
[[nodiscard]] std::optional<Roofline> roofline_of(const Values& values);

// What compute and memory allow at the point's intensity: the lesser of the two roofs. None where one is not known.
[[nodiscard]] std::optional<double> attainable(const Roofline& roofline, const RooflinePoint& point);

}  // namespace dlkprof::advise
