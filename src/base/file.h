// Files that we make: private, and never through somebody's link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include "base/unique_handle.h"

namespace dlkprof {

void close_fd(int fd) noexcept;
using UniqueFd = UniqueHandle<int, close_fd, -1>;

// The same at a high number, where few programs come: those that close what they did not open mostly count up from 3, and the
// number that a program closed twice is mostly a low one. At the number that it has, where there is no higher one.
[[nodiscard]] UniqueFd to_high_number(UniqueFd file) noexcept;

// Creates `path` with mode 0600, O_EXCL, O_NOFOLLOW and O_CLOEXEC; throws Error, naming the path and errno's
// words. `exists` tells a name that is taken from other failures: then no handle and no throw.
[[nodiscard]] UniqueFd create_private(const std::filesystem::path& path, bool* exists = nullptr);

// Writes all of `bytes`, retrying short writes and EINTR; throws Error.
void write_all(int fd, std::span<const std::uint8_t> bytes, const std::filesystem::path& path);

// Whether RLIMIT_FSIZE lets a file end at that byte. Writing past it raises SIGXFSZ, which would end the profiled program, in
// memory files too: ask first.
[[nodiscard]] bool within_size_limit(std::uint64_t end) noexcept;

// Waits until what anybody wrote to a regular file is on its disk (fsync). Returns why that failed.
[[nodiscard]] std::error_code flush_file(const std::filesystem::path& path) noexcept;

// The whole of a file; throws Error with a remedy.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// The folder that holds bin/, lib/ and share/ of this installation (from the running executable or library);
// in a build tree, the build's own.
[[nodiscard]] std::filesystem::path install_root();

}  // namespace dlkprof
