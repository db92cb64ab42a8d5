// Adds entries to interned data, a packet for so many bytes of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "export/perfetto/packets.h"

namespace dlkprof::exports::perfetto {

class InternedWriter {
 public:
  explicit InternedWriter(Packets& packets) : packets_(packets) {}

  void add(Field table, std::uint64_t iid, std::string_view text) {
    Message(data_).message(table, [&](Message& entry) {
      entry.number(kIid, iid);
      entry.text(kInternedValue, valid_utf8(text));
    });
    if (data_.size() >= kEnough) finish();
  }
  template <typename Fill>
  void add(Field table, std::uint64_t iid, const Fill& fill) {
    Message(data_).message(table, [&](Message& entry) {
      entry.number(kIid, iid);
      fill(entry);
    });
    if (data_.size() >= kEnough) finish();
  }
  void finish() {
    packets_.add([&](Message& packet) { packet.text(kPacketInternedData, data_); }, kNeedsState);
    data_.clear();
  }

 private:
  static constexpr std::size_t kEnough = std::size_t{1} << 14U;
  Packets& packets_;
  std::string data_;
};

}  // namespace dlkprof::exports::perfetto
