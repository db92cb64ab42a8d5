#include "inject/session/messages.h"

#include <mutex>
#include <set>

#include "base/say.h"
#include "base/text.h"

namespace dlkprof::inject {
namespace {

constinit std::mutex g_mutex;

void write_line(const std::string& what, const std::string& detail, const std::string& remedy) {
  std::string text = "dlkprof: " + printable(what);
  if (!detail.empty()) text += ": " + printable(detail);
  if (!remedy.empty()) text += "\n  " + printable(remedy);
  text += '\n';
  write_to_stderr(text);
}

}  // namespace

bool Messages::say(capture::Severity severity, const std::string& what, const std::string& detail,
                   const std::string& remedy) noexcept {
  try {
    const std::lock_guard lock(g_mutex);
    static auto& said = *new std::set<std::string>;  // outlives static destruction: exit handlers may still speak
    if (!said.insert(what + '\n' + detail).second) return false;
    const bool wanted = severity == capture::Severity::error || (severity == capture::Severity::warning && !quiet_);
    if (wanted) write_line(what, detail, remedy);
    return true;
  } catch (...) {
    return false;
  }
}

void Messages::lock() { g_mutex.lock(); }
void Messages::unlock() { g_mutex.unlock(); }

void say_startup_failure(const Error& error) noexcept {
  Messages(false).say(capture::Severity::error, error.what(), error.detail(),
                      error.remedy().empty() ? "The program runs on without profiling." : error.remedy());
}

}  // namespace dlkprof::inject
