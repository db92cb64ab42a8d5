// Texts that files of the repository must have: expected ones under tests/data/golden, and documents that follow from the
// program. Where DLKPROF_REGENERATE is set the file is written anew instead: look at the difference before keeping it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"

namespace dlkprof::test {

// A failure shows the first line that differs: the texts may be long.
inline void expect_file(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("DLKPROF_REGENERATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  constexpr const char* kHint = "With DLKPROF_REGENERATE=1 this test writes the file; then read `git diff`.";
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing. " << kHint;
  const std::string file = read_file(path);
  if (file == text) return;
  const auto same = std::mismatch(file.begin(), file.end(), text.begin(), text.end()).first - file.begin();
  const std::size_t begin = same == 0 ? 0 : file.rfind('\n', same - 1) + 1;
  const auto line = [begin](const std::string& of) {
    return begin < of.size() ? of.substr(begin, of.find('\n', begin) - begin) : std::string("(ends here)");
  };
  ADD_FAILURE() << path.lexically_normal().string() << ":" << std::count(file.begin(), file.begin() + same, '\n') + 1
                << " differs from what the program gives.\n     file: " << line(file) << "\n  program: " << line(text) << "\n"
                << kHint;
}

inline void expect_golden(const std::string& name, const std::string& text) {
  expect_file(std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests" / "data" / "golden" / name, text);
}

}  // namespace dlkprof::test
