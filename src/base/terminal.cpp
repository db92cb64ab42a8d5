#include "base/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace dlkprof {
namespace {

constexpr std::size_t kLeastWidth = 40, kMostWidth = 10'000;

std::size_t columns_variable() {
  const char* value = std::getenv("COLUMNS");
  if (value == nullptr) return 0;
  const std::string_view text = value;
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  return error == std::errc() && end == text.data() + text.size() ? width : 0;
}

std::size_t terminal_columns(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

std::size_t text_width(int fd) {
  std::size_t width = columns_variable();
  if (width == 0) width = terminal_columns(fd);
  if (width == 0) width = kUsualWidth;
  return std::clamp(width, kLeastWidth, kMostWidth);
}

}  // namespace dlkprof
