// The capture of this process as the session writes it: opened when the first launch comes, so that a process that
// never launches leaves no file; begun anew in a forked child, so that two processes never write one file. What the
// user is told goes into it as well. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "capture/options.h"
#include "capture/writer.h"
#include "inject/session/messages.h"

namespace dlkprof::inject {

class Recorder {
 public:
  Recorder(const capture::ProfileOptions& options, std::uint32_t cupti_version, std::uint32_t driver_version);

  // Appends, opening the capture first where there is none. Throws Error (folder not writable, disk full), having said it.
  void append(const capture::Record& record);
  // Says it on stderr, once, and appends it where a capture is open. Never throws.
  void note(capture::Severity severity, const std::string& what, const std::string& detail, const std::string& remedy) noexcept;
  // The error that `what` came of, with the detail and remedy of an Error.
  void note(const std::string& what, const std::exception& error, capture::Severity severity = capture::Severity::error) noexcept;
  // There is a capture, and it has taken everything so far.
  [[nodiscard]] bool usable() const noexcept { return open_ && !failed_; }

  // In a forked child: the parent's file is the parent's.
  void forget() noexcept;
  [[nodiscard]] bool is_in_child() const noexcept { return in_child_; }
  // Around fork, so that the child never inherits a lock that nobody will release.
  void lock() {
    mutex_.lock();
    Messages::lock();
  }
  void unlock() {
    Messages::unlock();
    mutex_.unlock();
  }

 private:
  [[nodiscard]] capture::ProcessRecord describe_process() const;
  void end(const std::exception& error) noexcept;

  const capture::ProfileOptions& options_;
  const std::uint32_t cupti_version_, driver_version_;
  Messages messages_;
  std::mutex mutex_;
  std::unique_ptr<capture::Writer> writer_;
  std::atomic<bool> open_{false}, failed_{false};
  bool in_child_ = false;
};

}  // namespace dlkprof::inject
