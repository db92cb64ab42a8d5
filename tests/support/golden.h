// Expected texts under tests/data/golden. Where DLKPROF_REGENERATE is set the file is written anew instead: look at the
// difference before keeping it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"

namespace dlkprof::test {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests" / "data" / "golden" / name;
  if (std::getenv("DLKPROF_REGENERATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is made with DLKPROF_REGENERATE=1";
  EXPECT_EQ(read_file(path), text);
}

}  // namespace dlkprof::test
