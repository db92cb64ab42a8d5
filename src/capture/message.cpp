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

// `rest` without the ids of the inputs, where it ends with them.
std::string_view without_inputs(std::string_view rest) noexcept {
  const std::size_t at = rest.find(kInputsField);
  if (at == std::string_view::npos) return rest;
  const std::string_view ids = rest.substr(at + kInputsField.size());
  return ids.starts_with('[') && ids.ends_with(']') ? rest.substr(0, at) : rest;
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
  text.add(split.op_id == kNoNumber ? rest : without_inputs(rest));
  if (text.full()) return {.text = message};
  split.text = text.text();
  return split;
}

// Each field goes where it first is: it was not looked for behind another.
std::string join_message(std::string_view text, std::uint32_t sequence, std::uint32_t op_id) {
  std::string message(text);
  if (const std::size_t at = text.find(kOpIdField); op_id != kNoNumber && at != text.npos) {
    const std::size_t behind = at + kOpIdField.size();
    message.insert(behind, std::to_string(op_id));
  }
  if (const std::size_t at = message.find(kSequenceField); sequence != kNoNumber && at != std::string::npos) {
    message.insert(at + kSequenceField.size(), std::to_string(sequence));
  }
  return message;
}

}  // namespace dlkprof::capture
