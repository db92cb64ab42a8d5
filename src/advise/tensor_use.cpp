#include "advise/tensor_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "advise/roofline.h"
#include "advise/rule_parts.h"
#include "advise/tensor_sizes.h"

namespace dlkprof::advise {
namespace {

// The extents that a matrix multiplication or convolution runs along: of matrices the last two, of images the channels.
Shape inner_extents(const Shape& shape, model::Framework framework) {
  if (shape.size() < 2) return {};
  if (shape.size() < 4) return {shape.end() - 2, shape.end()};
  return {framework == model::Framework::tensorflow ? shape.back() : shape[1]};
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::optional<std::string> misaligned(const model::Op& op) {
  const auto size = element_bytes(op.data_types);
  const std::uint64_t unit = size ? std::max<std::uint64_t>(kAlignedBytes / *size, 1) : kAlignedElements;
  for (const Shape& shape : parse_shapes(op.input_shapes)) {
    for (const std::uint64_t extent : inner_extents(shape, op.framework)) {
      if (extent % unit == 0) continue;
      return fmt::format("its input {} has an extent of {}, no multiple of {}", shown(shape_text(shape)), extent, unit);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> type_against_tensor_cores(const model::Op& op) {
  for (const char* type : {"float64", "double", "f64", "int32", "int64", "complex"}) {
    if (contains(op.data_types, type)) return fmt::format("its inputs are of type {}", shown(op.data_types));
  }
  return std::nullopt;
}

std::optional<std::string> reason_against_tensor_cores(const model::Op& op) {
  const auto type = type_against_tensor_cores(op);
  return type ? type : misaligned(op);
}

std::optional<TensorWork> tensor_work_of(const Values& values) {
  const auto roofline = roofline_of(values);
  if (!roofline) return std::nullopt;
  TensorWork activity;
  std::size_t precisions = 0;
  for (const RooflinePoint& point : roofline->points) {
    if (!std::string_view(point.precision).starts_with("Tensor ")) continue;
    activity.precisions += fmt::format("{}{}", precisions == 0 ? "" : "; ", point.precision);
    activity.rate += point.rate;
    activity.peak = point.compute && precisions == 0 ? std::optional(point.compute->rate) : std::nullopt;
    ++precisions;
  }
  return precisions > 0 ? std::optional(std::move(activity)) : std::nullopt;
}

}  // namespace dlkprof::advise
