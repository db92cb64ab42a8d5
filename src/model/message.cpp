#include "model/message.h"

#include <charconv>
#include <utility>

#include "model/marker_parsers.h"

namespace dlkprof::model {
namespace {

using marker::kOpId;
using marker::kSequence;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Takes a number that reads back the same away from the front of `text`; kNone where there is none.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = kNone;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || (digits > 1 && text.front() == '0')) return kNone;
  text.remove_prefix(digits);
  return number;
}

// Moves a field from the front of `rest` to `text`, but for its number. False where what follows is no number of ours.
bool move_field(std::string_view field, std::string_view& rest, std::string& text, std::uint32_t& number) {
  if (!rest.starts_with(field)) return true;
  rest.remove_prefix(field.size());
  number = take_number(rest);
  text += field;
  return number != kNone;
}

// Of "(5,0), (0,-1)" each 5 that is of an op before `op_id` becomes "-4", or, to go `back`, the reverse.
std::string count_inputs(std::string_view rest, std::uint32_t op_id, bool back) {
  const std::string_view before = back ? "(-" : "(";
  const std::string_view after = back ? "(" : "(-";
  std::string text;
  std::size_t from = rest.find(marker::kInputs);
  for (std::size_t at = from; (at = rest.find(before, at)) != std::string_view::npos;) {
    std::string_view behind = rest.substr(at += before.size());
    const std::uint32_t number = take_number(behind);
    if (number == 0 || number >= op_id) continue;
    text.append(rest.substr(0, at - before.size())).append(after).append(std::to_string(op_id - number));
    rest = behind;
    at = 0;
  }
  return text.append(rest);
}

}  // namespace

SplitMessage split_message(std::string message) {
  const std::size_t fields = marker::fields_at(message);
  SplitMessage split;
  std::string_view rest = std::string_view(message).substr(fields);
  split.text = message.substr(0, fields);
  const bool moved = move_field(kSequence, rest, split.text, split.sequence) && move_field(kOpId, rest, split.text, split.op_id);
  const bool numbered = split.sequence != kNone || split.op_id != kNone;
  // What could not be put together again.
  const bool twice = contains(rest, kSequence) || contains(rest, kOpId) || contains(rest, "(-");
  if (!moved || !numbered || twice) return {.text = std::move(message)};
  split.text += split.op_id == kNone ? std::string(rest) : count_inputs(rest, split.op_id, false);
  return split;
}

std::string join_message(std::string_view text, std::uint32_t sequence, std::uint32_t op_id) {
  std::string message(text);
  if (op_id != kNone) {
    const std::size_t at = message.find(kOpId) + kOpId.size();
    message = message.substr(0, at) + std::to_string(op_id) + count_inputs(std::string_view(message).substr(at), op_id, true);
  }
  if (sequence != kNone) message.insert(message.find(kSequence) + kSequence.size(), std::to_string(sequence));
  return message;
}

}  // namespace dlkprof::model
