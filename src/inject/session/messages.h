// What the injected library says to the user: on stderr, each thing once, in one write, so that it does not mix with
// what the program prints.
#pragma once

#include <string>

#include "base/error.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

class Messages {
 public:
  explicit Messages(bool quiet) : quiet_(quiet) {}

  // Says it unless it was said before, or is no error and warnings are not wanted. Returns whether it was new.
  bool say(capture::Severity severity, const std::string& what, const std::string& detail, const std::string& remedy) noexcept;
  // Around fork, so that the child never inherits a lock that nobody will release.
  static void lock();
  static void unlock();

 private:
  bool quiet_;
};

// For what goes wrong before there is a session. Says `error` once a process.
void say_startup_failure(const Error& error) noexcept;

}  // namespace dlkprof::inject
