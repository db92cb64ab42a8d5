// The wire format of protocol buffers (protobuf.dev, "Encoding"), as far as writing a trace takes: fields are appended to a
// text that the caller keeps. No generated code, no schema: the field numbers stand with those who write a message.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlkprof::exports {

class Message {
 public:
  explicit Message(std::string& out) : out_(&out) {}

  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  // Types int32 and int64: negative values take ten bytes.
  void integer(std::uint32_t field, std::int64_t value) { number(field, static_cast<std::uint64_t>(value)); }
  void real(std::uint32_t field, double value) {
    tag(field, kFixed64);
    fixed(std::bit_cast<std::uint64_t>(value));
  }
  // `value` is valid UTF-8 where the field is a string.
  void text(std::uint32_t field, std::string_view value) {
    tag(field, kDelimited);
    varint(value.size());
    out_->append(value);
  }
  // A message within this one: `fill(message)` writes its fields.
  template <typename Fill>
  void message(std::uint32_t field, const Fill& fill) {
    tag(field, kDelimited);
    const std::size_t start = out_->size();
    out_->push_back('\0');  // nearly all are shorter than 128 bytes
    fill(*this);
    set_length(start);
  }
  // Fields that were written before, by another Message.
  void append(std::string_view fields) { out_->append(fields); }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kDelimited = 2;  // wire types

  void tag(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3U | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_->push_back(static_cast<char>(value | 0x80U));
    out_->push_back(static_cast<char>(value));
  }
  void fixed(std::uint64_t bits) {
    for (unsigned byte = 0; byte < 8; ++byte) out_->push_back(static_cast<char>(bits >> (8 * byte)));
  }
  // Puts the length of what follows `start` there, where one byte is kept for it.
  void set_length(std::size_t start) {
    std::uint64_t length = out_->size() - start - 1;
    std::string more;  // of the length, least significant group first
    for (; length >= 0x80; length >>= 7U) more.push_back(static_cast<char>(length | 0x80U));
    more.push_back(static_cast<char>(length));
    (*out_)[start] = more[0];
    if (more.size() > 1) out_->insert(start + 1, more, 1, std::string::npos);
  }

  std::string* out_;
};

}  // namespace dlkprof::exports
