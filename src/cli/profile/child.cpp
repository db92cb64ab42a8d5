#include "cli/profile/child.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigtimedwait is POSIX, not in <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "cli/ignored_signal.h"
#include "cli/profile/end_signals.h"

namespace dlkprof::cli {
namespace {

constexpr int kNotFound = 127, kNotExecutable = 126, kSignalBase = 128;

// The signals that we take by sigtimedwait while the program runs.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

// As under nohup; sigtimedwait gives such a signal all the same.
bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

[[noreturn]] void fail_to_become(int failure, int error) {
  [[maybe_unused]] const auto written = write(failure, &error, sizeof error);
  _exit(kNotFound);
}

// Never returns: becomes the program, or tells the parent through `failure` why it cannot.
[[noreturn]] void become(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                         const sigset_t& former_mask, int failure) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // As exec does, but before a signal that came meanwhile is delivered: it is for the program, not for a handler of ours.
  for (const int signal : kEndSignals) {
    if (!is_ignored(signal)) (void)::signal(signal, SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &former_mask, nullptr);
  execvp(arguments[0], arguments.data());
  fail_to_become(failure, errno);
}

// Sends a signal on to the program unless the terminal did: then the whole group has it already.
void pass_on(const siginfo_t& info, pid_t child) {
  if (info.si_signo != SIGCHLD && info.si_code != SI_KERNEL) kill(child, info.si_signo);
}

bool tells_to_end(int signal) {
  return std::find(kEndSignals.begin(), kEndSignals.end(), signal) != kEndSignals.end() && !is_ignored(signal);
}

// With the signals blocked: one that comes from now on goes to the program, and one before would end neither it nor us.
void check_not_told(const sigset_t& former_mask) {
  const int signal = EndSignals::noted();
  if (signal == 0) return;
  sigprocmask(SIG_SETMASK, &former_mask, nullptr);
  throw CannotStart(kSignalBase + signal, std::string("told to end before it was started: ") + strsignal(signal));
}

ChildResult result_of(int status, int told_to_end) {
  if (WIFSIGNALED(status)) return {kSignalBase + WTERMSIG(status), WTERMSIG(status), told_to_end};
  return {WEXITSTATUS(status), 0, told_to_end};
}

ChildResult wait_for(pid_t child, const sigset_t& signals, std::chrono::milliseconds interval,
                     const std::function<void()>& on_tick) {
  const timespec pause{interval.count() / 1000, (interval.count() % 1000) * 1'000'000};
  int told_to_end = 0;
  for (;;) {
    siginfo_t info{};
    if (sigtimedwait(&signals, &info, &pause) > 0) pass_on(info, child);
    if (tells_to_end(info.si_signo)) told_to_end = info.si_signo;
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return result_of(status, told_to_end);
    if (ended < 0 && errno != EINTR) return {1, 0, told_to_end};  // somebody else reaped it; nothing is known of how it ended
    on_tick();
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command,
                      const std::function<std::map<std::string, std::string>(int pid)>& environment,
                      std::chrono::milliseconds interval, const std::function<void()>& on_tick) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw CannotStart(kNotExecutable, std::string("pipe2: ") + std::strerror(errno));
  const UniqueFd failure_in(ends[0]);
  UniqueFd failure_out(ends[1]);
  const sigset_t signals = watched_signals();
  sigset_t former;
  sigprocmask(SIG_BLOCK, &signals, &former);
  check_not_told(former);
  const pid_t child = fork();
  if (child == 0) {
    try {
      become(command, environment(getpid()), former, failure_out.get());
    } catch (...) {  // there is one of us already to go on from here
      fail_to_become(failure_out.get(), ENOMEM);
    }
  }
  const int fork_error = errno;
  const IgnoredSignal guard(SIGPIPE);  // nobody reads what we say: no reason to leave the program alone
  failure_out.reset();
  int exec_error = 0;
  const bool failed = child < 0 || read(failure_in.get(), &exec_error, sizeof exec_error) == sizeof exec_error;
  if (failed) {
    if (child > 0) waitpid(child, nullptr, 0);
    sigprocmask(SIG_SETMASK, &former, nullptr);
    const int error = child < 0 ? fork_error : exec_error;
    throw CannotStart(error == ENOENT ? kNotFound : kNotExecutable, printable(command[0]) + ": " + std::strerror(error));
  }
  const auto result = wait_for(child, signals, interval, on_tick);
  sigprocmask(SIG_SETMASK, &former, nullptr);
  return result;
}

}  // namespace dlkprof::cli
