// Text that needs no look at its UTF-8: most of what is stored, and there are millions of it.
#pragma once

#include <algorithm>
#include <string_view>

namespace dlkprof::store {

[[nodiscard]] inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

}  // namespace dlkprof::store
