// How far measuring is, on stderr: one line that stays in place on a terminal, few plain lines elsewhere. Reads it from
// the captures as they grow, so that the profiled program has nothing to do for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "capture/reader.h"

namespace dlkprof::cli {

class Progress {
 public:
  // Follows the captures <base_name>*.dlkcap of `folder`; `expected` is the number of launches that will be measured,
  // where it is known.
  Progress(std::filesystem::path folder, std::string base_name, std::optional<std::uint64_t> expected, bool terminal);

  // Reads what is new, and shows it when it is time to.
  void update();
  // Takes the line away (terminal).
  void finish();

 private:
  void read_new();
  [[nodiscard]] std::string line() const;

  std::filesystem::path folder_;
  std::string base_name_;
  std::optional<std::uint64_t> expected_;
  bool terminal_;
  std::map<std::filesystem::path, capture::Reader> readers_;
  std::set<std::filesystem::path> others_;  // of another base name
  std::uint64_t kernels_ = 0, passes_ = 0, cost_ns_ = 0, shown_ = 0;
  std::chrono::steady_clock::time_point last_shown_ = std::chrono::steady_clock::now();
};

}  // namespace dlkprof::cli
