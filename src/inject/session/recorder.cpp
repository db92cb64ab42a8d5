#include "inject/session/recorder.h"

#include <dlkprof/version.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace dlkprof::inject {
namespace {

// argv as the kernel keeps it; it may be large or gone, and is only shown.
std::vector<std::string> own_arguments() {
  try {
    std::string text = read_file("/proc/self/cmdline");
    if (!text.empty() && text.back() == '\0') text.pop_back();
    return split(text, '\0');
  } catch (const Error&) {
    return {};
  }
}

capture::NoticeRecord notice_of(const std::string& what, const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  return {capture::Severity::error, what + ": " + error.what(), ours != nullptr ? ours->detail() : "",
          ours != nullptr ? ours->remedy() : ""};
}

}  // namespace

Recorder::Recorder(const capture::ProfileOptions& options, std::uint32_t cupti_version, std::uint32_t driver_version)
    : options_(options), cupti_version_(cupti_version), driver_version_(driver_version), messages_(options.quiet) {}

void Recorder::append(const capture::Record& record) {
  const std::lock_guard lock(mutex_);
  try {
    if (writer_ == nullptr) {
      writer_ = std::make_unique<capture::Writer>(capture::Writer::create(options_.output_directory, options_.base_name));
      writer_->set_limit(options_.max_capture_bytes());
      writer_->append(describe_process());
      open_ = true;
    }
    writer_->append(record);
  } catch (const std::exception& error) {
    end(error);
    throw;
  }
}

// Said before anybody can see that it failed: who sees it may end the process without another word.
void Recorder::end(const std::exception& error) noexcept {
  if (failed_) return;
  try {
    const auto notice = notice_of("profiling has ended, the program runs on", error);
    messages_.say(notice.severity, notice.what, notice.detail, notice.remedy);
  } catch (const std::exception&) {  // no memory to say it
  }
  failed_ = true;
}

void Recorder::note(capture::Severity severity, const std::string& what, const std::string& detail,
                    const std::string& remedy) noexcept {
  if (!messages_.say(severity, what, detail, remedy)) return;
  const std::lock_guard lock(mutex_);
  if (!usable()) return;
  try {
    writer_->append(capture::NoticeRecord{severity, what, detail, remedy});
  } catch (const std::exception& error) {
    end(error);
  }
}

void Recorder::note(const std::string& what, const std::exception& error, capture::Severity severity) noexcept {
  if (failed_) return;  // that the capture cannot be written ends all of it, and was said
  try {
    const auto notice = notice_of(what, error);
    note(severity, notice.what, notice.detail, notice.remedy);
  } catch (const std::exception&) {  // no memory to say it
  }
}

void Recorder::forget() noexcept {
  writer_.reset();
  open_ = false;
  in_child_ = true;
}

capture::ProcessRecord Recorder::describe_process() const {
  capture::ProcessRecord record;
  record.pid = static_cast<std::uint32_t>(getpid());
  record.parent_pid = static_cast<std::uint32_t>(getppid());
  record.start_unix_ns = unix_now_ns();
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) record.host = host.data();
  record.arguments = own_arguments();
  record.dlkprof_version = DLKPROF_VERSION;
  record.cupti_version = cupti_version_;
  record.driver_version = driver_version_;
  record.options_json = capture::to_json(options_);
  record.graph_nodes = options_.timeline;
  return record;
}

}  // namespace dlkprof::inject
