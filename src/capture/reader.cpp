#include "capture/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::capture {
namespace {

constexpr const char* kNotCapture = "Give a .dlkcap file that dlkprof wrote.";

Error read_error(const std::filesystem::path& path) {
  const int error = errno;
  const char* remedy = "";
  if (error == ENOENT) remedy = "Check the path: there is no such file.";
  if (error == EACCES || error == EPERM) remedy = "Ask its owner to let you read it, or run dlkprof as its owner.";
  if (error == EIO) remedy = "The disk does not give it back: read a copy.";
  return {"cannot read " + printable(path.native()), std::generic_category().message(error), remedy};
}

std::optional<Record> decode_if_good(const RecordHeader& header, std::span<const std::uint8_t> payload, ReadState& state) {
  try {
    if (crc32c(payload) == header.payload_crc) {
      std::optional<Record> record = decode_payload(header.type, payload);
      ++(record ? state.records : state.unknown);
      return record;
    }
  } catch (const Error&) {  // counted below: one bad record must not hide those after it
  }
  ++state.damaged;
  return std::nullopt;
}

}  // namespace

Reader::Reader(UniqueFd file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {}

Reader Reader::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
  Reader reader(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), path);
  if (!reader.file_) throw read_error(path);
  const std::string name = printable(path.native());
  struct stat status {};
  if (fstat(reader.file_.get(), &status) != 0) throw read_error(path);
  if (!S_ISREG(status.st_mode)) throw Error(name + " is not a capture", "it is not a regular file", kNotCapture);
  if (status.st_size == 0) throw Error(name + " is not a capture", "it is empty", kNotCapture);

  std::array<std::uint8_t, kFileHeaderBytes> header{};
  const bool whole = reader.read_at(0, header);
  const std::optional<std::uint32_t> version = whole ? decode_file_header(header) : std::nullopt;
  if (!version) throw Error(name + " is not a capture", "", kNotCapture);
  if (*version > kCaptureVersion) {
    throw Error(name + " was written by a newer dlkprof",
                fmt::format("capture version {}; this dlkprof reads versions up to {}", *version, kCaptureVersion),
                "Read it with the dlkprof that wrote it, or with a newer one.");
  }
  reader.state_.bytes = kFileHeaderBytes;
  return reader;
}

std::optional<Record> Reader::next() {
  while (const std::optional<RecordHeader> header = next_header()) {
    std::vector<std::uint8_t> payload(header->length);
    if (!read_at(state_.bytes + kRecordHeaderBytes, payload)) {  // the file shrank just now
      state_.cut = true;
      break;
    }
    state_.bytes += kRecordHeaderBytes + payload.size();
    if (std::optional<Record> record = decode_if_good(*header, payload, state_)) return record;
  }
  return std::nullopt;
}

std::optional<RecordHeader> Reader::next_header() {
  const std::uint64_t size = file_size();
  state_.cut = size > state_.bytes;
  std::array<std::uint8_t, kRecordHeaderBytes> bytes{};
  if (!state_.cut || !read_at(state_.bytes, bytes)) return std::nullopt;
  const std::optional<RecordHeader> header = decode_header(bytes);
  // The length is checked against the file before memory is taken for it.
  if (!header || header->length > size - state_.bytes - kRecordHeaderBytes) return std::nullopt;
  state_.cut = false;
  return header;
}

std::uint64_t Reader::file_size() const {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) throw read_error(path_);
  return static_cast<std::uint64_t>(status.st_size);
}

bool Reader::read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw read_error(path_);
    if (got == 0) return false;
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace dlkprof::capture
