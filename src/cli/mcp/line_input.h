// Lines of stdin for a server that also works in between: it can look for the next line without waiting for one.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

namespace dlkprof::cli {

class LineInput {
 public:
  explicit LineInput(int fd) : fd_(fd) {}

  // In the place of a line that is longer.
  static constexpr std::size_t kLongestLine = std::size_t{16} << 20U;
  static constexpr const char* kTooLong = "(too long)";

  // The next line, without its end; none at the end of the input. Waits.
  [[nodiscard]] std::optional<std::string> next();
  // Takes in what is there already, without waiting. Lines read so far, which next() will give, are `pending()`.
  void look();
  [[nodiscard]] std::deque<std::string>& pending() { return lines_; }

 private:
  void read_some();
  void take_lines();

  int fd_;
  bool ended_ = false, too_long_ = false;
  std::string rest_;
  std::deque<std::string> lines_;
};

}  // namespace dlkprof::cli
