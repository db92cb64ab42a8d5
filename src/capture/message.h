// PyTorch numbers each of its NVTX messages, so that millions differ in nothing but numbers. Those are kept apart from the
// text, of which few are left: each is interned, written and parsed once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

// Of a start/end range in the default domain around what Triton and Inductor launch to find the fastest of several kernels
// (python/dlkprof/_tuning.py).
inline constexpr std::string_view kAutotuning = "dlkprof:autotuning";

// The fields of PyTorch's messages, each only where it is known: "aten::mm, seq = 7, op_id = 9, sizes = [[4, 8], [8, 2]],
// input_op_ids = [(5,0), (0,-1)]" (torch/csrc/profiler).
inline constexpr std::string_view kSequenceField = ", seq = ";
inline constexpr std::string_view kOpIdField = ", op_id = ";
inline constexpr std::string_view kSizesField = ", sizes = ";
inline constexpr std::string_view kInputsField = ", input_op_ids = ";

// Where they begin. Names may have commas of their own: they are whatever record_function() was given.
[[nodiscard]] std::size_t message_fields_at(std::string_view message) noexcept;

struct SplitMessage {
  // "aten::mm, seq = , op_id = , sizes = [[4, 8], [8, 2]]". Which ops made the inputs is left out with op_id: a weight's is
  // farther back in every step, so that no two messages were alike, and nothing asks for it.
  std::string_view text;
  std::uint32_t sequence = kNoNumber, op_id = kNoNumber;  // kNoNumber: the message has none
};

// `room` is where the text is put together. A message of another form, with a number of kNoNumber and more, or for which
// there is not room enough stays as it is: with neither number. Called for every range of a program, so takes no memory.
[[nodiscard]] SplitMessage split_message(std::string_view message, std::span<char> room) noexcept;

// The message that was split, without the ids of its inputs.
[[nodiscard]] std::string join_message(std::string_view text, std::uint32_t sequence, std::uint32_t op_id);

}  // namespace dlkprof::capture
