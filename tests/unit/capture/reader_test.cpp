#include "capture/reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "sample_records.h"
#include "support/temporary_directory.h"

namespace dlkprof::capture::reader_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

class ReaderTest : public testing::Test {
 protected:
  // Puts `bytes` where path() is, keeping the file itself, as a writer would.
  void put(std::span<const std::uint8_t> bytes) {
    const UniqueFd file(open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    write_all(file.get(), bytes, path());
  }
  void put_more(std::span<const std::uint8_t> bytes) {
    const UniqueFd file(open(path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    write_all(file.get(), bytes, path());
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)Reader::open(path());
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }
  [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "a.dlkcap"; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  dlkprof::test::TemporaryDirectory directory_;
};

TEST_F(ReaderTest, GivesAllRecordsInOrder) {
  const auto records = sample_records();
  put(capture_bytes(records));
  Reader reader = Reader::open(path());
  EXPECT_EQ(read_all(reader), encode_all(records));
  EXPECT_EQ(reader.state().records, records.size());
  EXPECT_EQ(reader.state().damaged, 0U);
  EXPECT_EQ(reader.state().unknown, 0U);
  EXPECT_EQ(reader.state().bytes, std::filesystem::file_size(path()));
  EXPECT_FALSE(reader.state().cut);
}

TEST_F(ReaderTest, AFileCutAnywhereIsGoodUpToItsLastWholeRecord) {
  const auto records = sample_records();
  const auto encoded = encode_all(records);
  const Bytes bytes = capture_bytes(records);
  std::size_t whole = 0;                       // records
  std::size_t whole_bytes = kFileHeaderBytes;  // up to the end of them
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    put(std::span(bytes).first(length));
    if (length < kFileHeaderBytes) {
      EXPECT_THAT(refusal(), HasSubstr("is not a capture")) << length;
      continue;
    }
    if (whole < encoded.size() && length == whole_bytes + encoded[whole].size()) whole_bytes += encoded[whole++].size();
    Reader reader = Reader::open(path());
    const auto read = read_all(reader);
    ASSERT_EQ(read.size(), whole) << length;
    EXPECT_TRUE(std::equal(read.begin(), read.end(), encoded.begin())) << length;
    EXPECT_EQ(reader.state().bytes, whole_bytes) << length;
    EXPECT_EQ(reader.state().cut, length > whole_bytes) << length;
    EXPECT_EQ(reader.state().damaged, 0U) << length;
  }
  EXPECT_EQ(whole, records.size());
}

// Whatever byte is changed: what is read are records that were written, in their order, and what is missing is owned up to.
TEST_F(ReaderTest, AChangedByteNeverPassesUnnoticed) {
  const std::vector<Record> records{ProcessRecord{.pid = 1, .host = "h"}, NoticeRecord{Severity::info, "a", "", ""},
                                    LaunchRecord{.index = 2, .values = {1.5}}, EndRecord{3, 4}};
  const auto encoded = encode_all(records);
  const Bytes bytes = capture_bytes(records);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
      Bytes changed = bytes;
      changed[i] ^= static_cast<std::uint8_t>(mask);
      put(changed);
      try {
        Reader reader = Reader::open(path());
        const auto read = read_all(reader);
        auto next = encoded.begin();
        for (const auto& record : read) {
          next = std::find(next, encoded.end(), record);
          ASSERT_NE(next, encoded.end()) << "a record that was never written, byte " << i;
          ++next;
        }
        const bool reserved = i >= 12 && i < kFileHeaderBytes;
        const ReadState& state = reader.state();
        EXPECT_TRUE(state.damaged == 1 || state.cut || reserved) << i;
        EXPECT_EQ(read.size() == records.size(), reserved) << i;
      } catch (const Error& error) {
        EXPECT_LT(i, 12U) << error.message();
      }
    }
  }
}

TEST_F(ReaderTest, ARecordWithADamagedPayloadIsSkipped) {
  const auto records = sample_records();
  auto encoded = encode_all(records);
  Bytes bytes = capture_bytes(records);
  bytes[kFileHeaderBytes + encoded[0].size() + kRecordHeaderBytes] ^= 1;
  put(bytes);
  Reader reader = Reader::open(path());
  encoded.erase(encoded.begin() + 1);
  EXPECT_EQ(read_all(reader), encoded);
  EXPECT_EQ(reader.state().damaged, 1U);
  EXPECT_FALSE(reader.state().cut);
}

TEST_F(ReaderTest, ARecordWithADamagedHeaderEndsReading) {
  const auto records = sample_records();
  const auto encoded = encode_all(records);
  Bytes bytes = capture_bytes(records);
  bytes[kFileHeaderBytes + encoded[0].size() + 8] ^= 1;  // its length
  put(bytes);
  Reader reader = Reader::open(path());
  EXPECT_EQ(read_all(reader).size(), 1U);
  EXPECT_TRUE(reader.state().cut);
  EXPECT_FALSE(reader.next());
}

// A record of `type` with a good header and checksum.
Bytes framed(std::uint16_t type, const Bytes& payload, std::uint32_t length) {
  Bytes header;
  const auto put = [&header](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) header.push_back(static_cast<std::uint8_t>(value >> (8U * i)));
  };
  put(kRecordSync, 4);
  put(type, 2);
  put(0, 2);
  put(length, 4);
  put(crc32c(payload), 4);
  put(crc32c(header), 4);
  header.insert(header.end(), payload.begin(), payload.end());
  return header;
}

TEST_F(ReaderTest, UnknownAndMalformedRecordsAreSkippedAndCounted) {
  Bytes bytes = encode_file_header();
  for (const Bytes& record : {framed(99, {1, 2, 3}, 3), framed(9, {1, 2, 3}, 3), encode_record(EndRecord{5, 6})}) {
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  put(bytes);
  Reader reader = Reader::open(path());
  EXPECT_EQ(read_all(reader), encode_all({EndRecord{5, 6}}));
  EXPECT_EQ(reader.state().unknown, 1U);
  EXPECT_EQ(reader.state().damaged, 1U);
}

TEST_F(ReaderTest, LengthsAreCheckedAgainstTheFile) {
  for (const std::uint32_t length : {17U, kMaxPayloadBytes, kMaxPayloadBytes + 1, ~0U}) {
    Bytes bytes = encode_file_header();
    const Bytes record = framed(9, Bytes(16), length);
    bytes.insert(bytes.end(), record.begin(), record.end());
    put(bytes);
    Reader reader = Reader::open(path());
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.state().cut);
  }
}

TEST_F(ReaderTest, GoesOnWhenTheFileHasGrown) {
  const auto records = sample_records();
  const auto encoded = encode_all(records);
  put(encode_file_header());
  Reader reader = Reader::open(path());
  for (const Bytes& record : encoded) {
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.state().cut);
    put_more(std::span(record).first(record.size() - 1));
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.state().cut);
    put_more(std::span(record).last(1));
    const auto next = reader.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(encode_record(*next), record);
    EXPECT_FALSE(reader.state().cut);
  }
  EXPECT_EQ(reader.state().records, records.size());
}

TEST_F(ReaderTest, AFileThatShrankEnds) {
  const Bytes bytes = capture_bytes(sample_records());
  put(bytes);
  Reader reader = Reader::open(path());
  ASSERT_TRUE(reader.next());
  ASSERT_EQ(truncate(path().c_str(), kFileHeaderBytes), 0);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.state().cut);
}

TEST_F(ReaderTest, RefusesWhatIsNoCapture) {
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  put({});
  EXPECT_THAT(refusal(), HasSubstr("it is empty"));
  put(Bytes(1000, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("is not a capture"));
  EXPECT_THAT(refusal(), HasSubstr(".dlkcap"));
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(ReaderTest, APipeDoesNotHang) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(ReaderTest, RefusesANewerVersionByName) {
  Bytes bytes = capture_bytes(sample_records());
  bytes[8] = 2;
  put(bytes);
  EXPECT_THAT(refusal(), HasSubstr("newer dlkprof: capture version 2; this dlkprof reads versions up to 1"));
  bytes[8] = 0;
  put(bytes);
  EXPECT_THAT(refusal(), HasSubstr("is not a capture"));
}

}  // namespace
}  // namespace dlkprof::capture::reader_test
