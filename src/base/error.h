// The one error type: what failed, the failing call's own words, and what the user can do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace dlkprof {

class Error : public std::runtime_error {
 public:
  Error(const std::string& what, std::string detail, std::string remedy)
      : std::runtime_error(what), detail_(std::move(detail)), remedy_(std::move(remedy)) {}

  // The failing call and its own words: "cuptiRangeProfilerStart: CUPTI_ERROR_..."; may be empty.
  [[nodiscard]] const std::string& detail() const noexcept { return detail_; }
  // What the user can do; may be empty where nothing can be done.
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }
  // All of it as one line (and a second for the remedy), without a trailing newline.
  [[nodiscard]] std::string message() const;

 private:
  std::string detail_;
  std::string remedy_;
};

// Bad usage: found before the program starts; exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace dlkprof
