#include "cli/mcp/line_input.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace dlkprof::cli {

std::optional<std::string> LineInput::next() {
  while (lines_.empty() && !ended_) read_some();
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

void LineInput::look() {
  pollfd wanted{fd_, POLLIN, 0};
  while (!ended_ && poll(&wanted, 1, 0) > 0) read_some();
}

void LineInput::read_some() {
  std::array<char, std::size_t{1} << 16U> piece{};
  const ssize_t got = read(fd_, piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) {
    ended_ = true;
    if (!rest_.empty()) lines_.push_back(std::move(rest_));
    rest_.clear();
    return;
  }
  rest_.append(piece.data(), static_cast<std::size_t>(got));
  take_lines();
}

void LineInput::take_lines() {
  std::size_t start = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1) {
    lines_.push_back(too_long_ ? kTooLong : rest_.substr(start, end - start));
    too_long_ = false;
  }
  rest_.erase(0, start);
  if (rest_.size() <= kLongestLine) return;
  too_long_ = true;
  rest_.clear();
}

}  // namespace dlkprof::cli
