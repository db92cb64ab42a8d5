// gzip (RFC 1952), which browsers unpack by themselves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlkprof::view {

// The same bytes for the same input: no name and no time of day in the header.
[[nodiscard]] std::string gzip(std::string_view bytes);

// Throws Error where it is not whole, or unpacks to more than `most` bytes.
[[nodiscard]] std::string gunzip(std::string_view packed, std::size_t most);

// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace dlkprof::view
