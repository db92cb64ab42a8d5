// Why an op does not use tensor cores, as far as its marker tells, and how well those do that use them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advise/quantities.h"
#include "model/fold/fold.h"

namespace dlkprof::advise {

// NVIDIA's Deep Learning Performance Guide, matrix multiplication: dimensions as multiples of 16 bytes.
inline constexpr std::uint64_t kAlignedBytes = 16;
inline constexpr std::uint64_t kAlignedElements = 4;  // of four bytes each, where the type is not known

// "its inputs are of type int64": types that tensor cores of no GPU take, or of few. None where it is not that.
[[nodiscard]] std::optional<std::string> type_against_tensor_cores(const model::Op& op);
// Such a type, or the first input with an inner extent that tensor cores cannot take whole.
[[nodiscard]] std::optional<std::string> reason_against_tensor_cores(const model::Op& op);

// Operations that tensor cores carried out, of all precisions.
struct TensorWork {
  std::string precisions;      // "Tensor BF16; Tensor FP16", the one with most operations first
  double rate = 0;             // op/s
  std::optional<double> peak;  // op/s; none where there are several precisions, each with a peak of its own
};
// None where no operation of tensor cores was counted (the section roofline does).
[[nodiscard]] std::optional<TensorWork> tensor_work_of(const Values& values);

}  // namespace dlkprof::advise
