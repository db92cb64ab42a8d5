#include "capture/encoding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "capture/fields.h"

namespace dlkprof::capture {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in memory");
// The alternatives of Record stand in the order of RecordType, which counts from 1.
static_assert(std::variant_size_v<Record> == static_cast<std::size_t>(RecordType::sass_counts));

template <typename T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <typename T>
concept Sequence = kIsVector<T> || std::same_as<T, std::string>;

// Elements that lie in memory as they lie in the file.
template <typename T>
concept Bulk = Scalar<T> && !std::same_as<T, bool>;

// The fewest bytes that a T takes: so that a count can be checked before memory is taken for it.
template <typename T>
constexpr std::size_t least_bytes() {
  if constexpr (std::same_as<T, bool>) {
    return 1;
  } else if constexpr (Scalar<T>) {
    return sizeof(T);
  } else if constexpr (Sequence<T>) {
    return sizeof(std::uint32_t);
  } else {
    T value{};
    return fields([](auto&... field) { return (least_bytes<std::remove_cvref_t<decltype(field)>>() + ...); }, value);
  }
}

class Encoder {
 public:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      put_bytes(value ? "\1" : "\0", 1);
    } else if constexpr (Scalar<T>) {
      put_bytes(&value, sizeof value);
    } else if constexpr (Sequence<T>) {
      put_sequence(value);
    } else {
      fields([this](const auto&... field) { (this->put(field), ...); }, value);
    }
  }

  void put_bytes(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  template <typename T>
  void put_sequence(const T& sequence) {
    if (sequence.size() > kMaxPayloadBytes - std::min<std::size_t>(bytes_.size(), kMaxPayloadBytes)) {
      throw Error("a record is too large for a capture", "", "");
    }
    put(static_cast<std::uint32_t>(sequence.size()));
    if constexpr (Bulk<typename T::value_type>) {
      put_bytes(sequence.data(), sequence.size() * sizeof(typename T::value_type));
    } else {
      for (const auto& element : sequence) put(element);
    }
  }

  std::vector<std::uint8_t> bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  // An older writer's record may end after any of its fields: those that follow keep their defaults.
  template <typename R>
  [[nodiscard]] R record() {
    R result;
    fields([this](auto&... field) { ((left_.empty() ? void() : this->get(field)), ...); }, result);
    return result;
  }

  template <typename T>
  void get(T& value) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      get(byte);
      if (byte > 1) throw malformed();
      value = byte == 1;
    } else if constexpr (Scalar<T>) {
      get_bytes(&value, sizeof value);
    } else if constexpr (Sequence<T>) {
      get_sequence(value);
    } else {
      fields([this](auto&... field) { (this->get(field), ...); }, value);
    }
  }

 private:
  static Error malformed() { return {"a record of the capture is malformed", "", ""}; }

  void get_bytes(void* data, std::size_t size) {
    if (size > left_.size()) throw malformed();
    if (size > 0) std::memcpy(data, left_.data(), size);
    left_ = left_.subspan(size);
  }

  template <typename T>
  void get_sequence(T& sequence) {
    using Element = typename T::value_type;
    std::uint32_t count = 0;
    get(count);
    if (count > left_.size() / least_bytes<Element>()) throw malformed();
    sequence.resize(count);
    if constexpr (Bulk<Element>) {
      get_bytes(sequence.data(), count * sizeof(Element));
    } else {
      for (auto& element : sequence) get(element);
    }
  }

  std::span<const std::uint8_t> left_;
};

template <std::size_t... Index>
std::optional<Record> decode_alternative(std::size_t index, Decoder decoder, std::index_sequence<Index...>) {
  std::optional<Record> record;
  ((Index == index ? void(record = decoder.record<std::variant_alternative_t<Index, Record>>()) : void()), ...);
  return record;
}

// kCrcTables[k][b]: what byte b does to the checksum once k more bytes have followed it. With eight tables eight
// bytes are taken at a time, which is some five times as fast as one at a time.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr CrcTables make_crc_tables() {
  constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kReversedPolynomial : 0);
    tables[0][i] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t i = 0; i < 256; ++i) tables[k][i] = (tables[k - 1][i] >> 8U) ^ tables[0][tables[k - 1][i] & 0xffU];
  }
  return tables;
}
constexpr CrcTables kCrcTables = make_crc_tables();

}  // namespace

RecordType type_of(const Record& record) { return static_cast<RecordType>(record.index() + 1); }

std::vector<std::uint8_t> encode_payload(const Record& record) {
  Encoder encoder;
  std::visit([&](const auto& fields_of) { encoder.put(fields_of); }, record);
  std::vector<std::uint8_t> payload = encoder.take();
  if (payload.size() > kMaxPayloadBytes) throw Error("a record is too large for a capture", "", "");
  return payload;
}

std::optional<Record> decode_payload(RecordType type, std::span<const std::uint8_t> payload) {
  const std::size_t index = static_cast<std::size_t>(type) - 1;  // type 0 wraps round: unknown as well
  return decode_alternative(index, Decoder(payload), std::make_index_sequence<std::variant_size_v<Record>>());
}

std::vector<std::uint8_t> encode_record(const Record& record) {
  const std::vector<std::uint8_t> payload = encode_payload(record);
  Encoder header;
  header.put(kRecordSync);
  header.put(type_of(record));
  header.put(std::uint16_t{0});
  header.put(static_cast<std::uint32_t>(payload.size()));
  header.put(crc32c(payload));
  std::vector<std::uint8_t> bytes = header.take();
  Encoder crc;
  crc.put(crc32c(bytes));
  const std::vector<std::uint8_t> header_crc = crc.take();
  bytes.reserve(kRecordHeaderBytes + payload.size());
  bytes.insert(bytes.end(), header_crc.begin(), header_crc.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::optional<RecordHeader> decode_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes) {
  Decoder decoder(bytes);
  RecordHeader header;
  std::uint32_t sync = 0;
  std::uint16_t reserved = 0;
  std::uint32_t header_crc = 0;
  decoder.get(sync);
  decoder.get(header.type);
  decoder.get(reserved);
  decoder.get(header.length);
  decoder.get(header.payload_crc);
  decoder.get(header_crc);
  const bool good = sync == kRecordSync && header.length <= kMaxPayloadBytes &&
                    header_crc == crc32c(bytes.first<kRecordHeaderBytes - sizeof header_crc>());
  return good ? std::optional(header) : std::nullopt;
}

std::vector<std::uint8_t> encode_file_header() {
  Encoder encoder;
  encoder.put_bytes(kMagic.data(), kMagic.size());
  encoder.put(kCaptureVersion);
  encoder.put(std::uint32_t{0});
  return encoder.take();
}

std::optional<std::uint32_t> decode_file_header(std::span<const std::uint8_t, kFileHeaderBytes> bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) return std::nullopt;
  std::uint32_t version = 0;
  Decoder(bytes.subspan<kMagic.size()>()).get(version);
  return version == 0 ? std::nullopt : std::optional(version);
}

std::uint32_t crc32c(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~0U;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), sizeof eight);
    eight ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kCrcTables[7 - i][(eight >> (8 * i)) & 0xffU];
  }
  for (const std::uint8_t byte : bytes) crc = (crc >> 8U) ^ kCrcTables[0][(crc ^ byte) & 0xffU];
  return ~crc;
}

}  // namespace dlkprof::capture
