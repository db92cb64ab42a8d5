// What the programs here have in common that take their own times.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"

namespace dlkprof::bench {

// The median, with the smallest and largest.
inline std::string spread(std::vector<double> values) {
  if (values.empty()) return "";
  std::sort(values.begin(), values.end());
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", values[values.size() / 2], values.front(), values.back());
}

// The exit code: run(), or what went wrong.
int run_program(const char* name, auto run) {
  try {
    run();
    return 0;
  } catch (const Error& failure) {
    fmt::print(stderr, "{}: {}{}{}\n", name, failure.what(), failure.detail().empty() ? "" : ": ", failure.detail());
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}: {}\n", name, failure.what());
  }
  return 1;
}

}  // namespace dlkprof::bench
