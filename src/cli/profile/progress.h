// How far measuring is, on stderr: whole lines, and few of them. A line that stays in place would need to know when the program
// writes to the same terminal, and what it wrote there is its own. Reads the captures as they grow, so that the profiled program
// has nothing to do for it.
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
  Progress(std::filesystem::path folder, std::string base_name, std::optional<std::uint64_t> expected);

  // Reads what is new, and says it when it is time to: after 3 s, and then each time after twice as long.
  void update();

 private:
  void read_new();
  [[nodiscard]] std::string line() const;

  std::filesystem::path folder_;
  std::string base_name_;
  std::optional<std::uint64_t> expected_;
  std::map<std::filesystem::path, capture::Reader> readers_;
  std::set<std::filesystem::path> others_;  // of another base name
  std::uint64_t kernels_ = 0, passes_ = 0, cost_ns_ = 0, said_ = 0;
  std::chrono::seconds pause_{3};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + pause_;
};

}  // namespace dlkprof::cli
