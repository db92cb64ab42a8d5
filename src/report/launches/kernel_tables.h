// The tables that a person reads: for each measured launch what it was, how it was measured, and its sections.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "model/timeline/timeline.h"

namespace dlkprof::report {

// No line is longer than this.
inline constexpr std::size_t kTableWidth = 80;

struct KernelTablesOptions {
  std::vector<cupti::Section> sections;                        // shown in this order, where the launch has a value for them
  std::vector<std::string> metrics;                            // shown besides, under their own names
  bool terminal = false;                                       // bars and bold type
  std::size_t most = std::numeric_limits<std::size_t>::max();  // tables shown
  std::function<bool(const std::string& name)> accepts = {};   // of kernels; none: all
};

// A table for each configuration that was measured, of its first launch: those that took the GPU longest in all come first.
[[nodiscard]] std::string kernel_tables(const model::Timeline& timeline, const KernelTablesOptions& options);

}  // namespace dlkprof::report
