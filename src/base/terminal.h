// The terminal behind a file descriptor.
#pragma once

#include <cstddef>

namespace dlkprof {

inline constexpr std::size_t kUsualWidth = 80;

// The columns that text for people may take: COLUMNS where that is a number, else the width of the terminal behind `fd`, and 80
// where there is none. Never fewer than 40.
[[nodiscard]] std::size_t text_width(int fd);

}  // namespace dlkprof
