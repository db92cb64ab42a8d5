#include "capture/message.h"

#include <charconv>
#include <cstring>

namespace dlkprof::capture {
namespace {

// Takes a number that reads back the same away from the front of `text`; kNoNumber where there is none.
std::uint32_t take_number(std::string_view& text) noexcept {
  std::uint32_t number = kNoNumber;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || (digits > 1 && text.front() == '0')) return kNoNumber;
  text.remove_prefix(digits);
  return number;
}

// Text that is put together in memory of somebody else's.
class Room {
 public:
  explicit Room(std::span<char> memory) : memory_(memory) {}
  void add(std::string_view text) noexcept {
    full_ = full_ || text.size() > memory_.size() - used_;
    if (full_ || text.empty()) return;
    std::memcpy(memory_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  void add(std::uint32_t number) noexcept {
    const auto [end, error] = std::to_chars(memory_.data() + used_, memory_.data() + memory_.size(), number);
    full_ = full_ || error != std::errc();
    if (!full_) used_ = static_cast<std::size_t>(end - memory_.data());
  }
  [[nodiscard]] bool full() const noexcept { return full_; }
  [[nodiscard]] std::string_view text() const noexcept { return {memory_.data(), used_}; }

 private:
  std::span<char> memory_;
  std::size_t used_ = 0;
  bool full_ = false;
};

// Moves a field from the front of `rest` to `room`, but for its number. False where what follows is no number of ours.
bool move_field(std::string_view field, std::string_view& rest, Room& room, std::uint32_t& number) noexcept {
  if (!rest.starts_with(field)) return true;
  rest.remove_prefix(field.size());
  number = take_number(rest);
  room.add(field);
  return number != kNoNumber;
}

// Of "(5,0), (0,-1)" each 5 that is of an op before `op_id` becomes "-4". False where there is such a thing already.
bool count_inputs_back(std::string_view rest, std::uint32_t op_id, Room& room) noexcept {
  for (std::size_t at = 0; (at = rest.find('(', at)) != std::string_view::npos;) {
    std::string_view behind = rest.substr(++at);
    if (behind.starts_with('-')) return false;
    const std::uint32_t number = take_number(behind);
    if (number == 0 || number >= op_id) continue;
    room.add(rest.substr(0, at));
    room.add("-");
    room.add(op_id - number);
    rest = behind;
    at = 0;
  }
  room.add(rest);
  return true;
}

// The reverse.
std::string count_inputs_forth(std::string_view rest, std::uint32_t op_id) {
  constexpr std::string_view kBack = "(-";
  std::string text;
  for (std::size_t at = 0; (at = rest.find(kBack, at)) != std::string_view::npos;) {
    std::string_view behind = rest.substr(at + kBack.size());
    const std::uint32_t number = take_number(behind);
    if (number == 0 || number >= op_id) {
      at += kBack.size();
      continue;
    }
    text.append(rest.substr(0, at)).append("(").append(std::to_string(op_id - number));
    rest = behind;
    at = 0;
  }
  return text.append(rest);
}

}  // namespace

std::size_t message_fields_at(std::string_view message) noexcept {
  for (std::size_t at = message.find(", "); at != std::string_view::npos; at = message.find(", ", at + 1)) {
    const std::string_view rest = message.substr(at);
    for (const std::string_view field : {kSequenceField, kOpIdField, kSizesField, kInputsField}) {
      if (rest.starts_with(field)) return at;
    }
  }
  return message.size();
}

SplitMessage split_message(std::string_view message, std::span<char> room) noexcept {
  const std::size_t fields = message_fields_at(message);
  SplitMessage split;
  Room text(room);
  std::string_view rest = message.substr(fields);
  text.add(message.substr(0, fields));
  const bool moved = move_field(kSequenceField, rest, text, split.sequence) && move_field(kOpIdField, rest, text, split.op_id);
  if (!moved || (split.sequence == kNoNumber && split.op_id == kNoNumber)) return {.text = message};
  if (split.op_id == kNoNumber) {
    text.add(rest);
  } else if (!count_inputs_back(rest, split.op_id, text)) {
    return {.text = message};
  }
  if (text.full()) return {.text = message};
  split.text = text.text();
  return split;
}

// Each field goes where it first is: it was not looked for behind another.
std::string join_message(std::string_view text, std::uint32_t sequence, std::uint32_t op_id) {
  std::string message(text);
  if (const std::size_t at = text.find(kOpIdField); op_id != kNoNumber && at != text.npos) {
    const std::size_t behind = at + kOpIdField.size();
    message = std::string(text.substr(0, behind)) + std::to_string(op_id) + count_inputs_forth(text.substr(behind), op_id);
  }
  if (const std::size_t at = message.find(kSequenceField); sequence != kNoNumber && at != std::string::npos) {
    message.insert(at + kSequenceField.size(), std::to_string(sequence));
  }
  return message;
}

}  // namespace dlkprof::capture
