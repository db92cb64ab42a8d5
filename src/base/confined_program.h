// Runs a program that looks at bytes of a file which may be hostile, and prints what it finds.
//
// The program is told by its bytes what to do if it has a fault, so it can do little: it writes no file, reaches no network,
// starts no process and ends none, and it leaves no core file. It may read files. Time, memory and output are limited, and its
// environment is empty.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dlkprof {

struct ProgramLimits {
  std::chrono::milliseconds time{0};
  std::size_t output_bytes = 0;
  std::size_t memory_bytes = 0;
};

// What it printed on stdout, with `bytes` as a file whose path is its last argument. Throws Error where it cannot be started or
// confined (seccomp), ends with a failure, or goes beyond a limit.
[[nodiscard]] std::string output_of_confined(const std::filesystem::path& program, std::vector<std::string> arguments,
                                             std::span<const char> bytes, const ProgramLimits& limits);

}  // namespace dlkprof
