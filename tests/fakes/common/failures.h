// Failures that a test asks for by an environment variable: <function>=<result>[@<n>[+]][,...] (see README.md).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fakes {

class Failures {
 public:
  explicit Failures(const char* variable);

  // Counts a call of `function`; the result that it shall give instead of doing anything, or none.
  [[nodiscard]] std::optional<std::string> next(const char* function);

 private:
  struct Rule {
    std::string result;
    unsigned long from = 1, to = 0;  // calls, counted from 1; to = 0: all later ones
  };
  std::mutex mutex_;
  std::multimap<std::string, Rule> rules_;
  std::map<std::string, unsigned long> calls_;
};

}  // namespace fakes
