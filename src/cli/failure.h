// What is said of an exception that nobody expected.
#pragma once

#include <exception>
#include <filesystem>
#include <span>
#include <string>

namespace dlkprof::cli {

// Of an Error its message. Of memory that ran out: what it ran out on, as far as `files` tell, and what to do.
[[nodiscard]] std::string words_of(const std::exception& failure, std::span<const std::filesystem::path> files);

}  // namespace dlkprof::cli
