// PyTorch numbers each of its messages, so that millions differ in nothing but numbers. Those are kept apart from the text,
// of which few are left: each is held, written and parsed once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/timeline.h"

namespace dlkprof::model {

// A message "aten::mm, seq = 7, op_id = 9, sizes = [[4, 8], [8, 2]], input_op_ids = [(5,0), (0,-1)]".
struct SplitMessage {
  // "aten::mm, seq = , op_id = , sizes = [[4, 8], [8, 2]], input_op_ids = [(-4,0), (0,-1)]": the ops that made the inputs are
  // counted back from this one, which is the same each time around.
  std::string text;
  std::uint32_t sequence = kNone, op_id = kNone;  // kNone: the message has none
};

// A message of another form, or with a number of kNone and more, stays as it is: with both numbers kNone.
[[nodiscard]] SplitMessage split_message(std::string message);

// The message that was split.
[[nodiscard]] std::string join_message(std::string_view text, std::uint32_t sequence, std::uint32_t op_id);

[[nodiscard]] inline std::string message_of(const Timeline& timeline, const Range& range) {
  return join_message(timeline.strings[range.message], range.sequence, range.op_id);
}

}  // namespace dlkprof::model
