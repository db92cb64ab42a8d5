// Runs the program to be profiled: as our child, in our process group, on our terminal, with its own streams.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dlkprof::cli {

// By which somebody tells a program to end.
inline constexpr std::array kEndSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};

struct ChildResult {
  int exit_code = 0;    // the program's own; 128 + signal where one killed it, as shells give it
  int signal = 0;       // that signal, or 0
  int told_to_end = 0;  // the last of kEndSignals that came to us meanwhile, whatever the program made of it; or 0
};

// Where the program cannot be started: `exit_code` is 127 (not found) or 126 (found, but not to be run), as shells have it;
// 128 + signal where EndSignals noted one before.
class CannotStart : public std::exception {
 public:
  CannotStart(int exit_code, std::string words) : exit_code_(exit_code), words_(std::move(words)) {}
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }
  [[nodiscard]] const char* what() const noexcept override { return words_.c_str(); }

 private:
  int exit_code_;
  std::string words_;
};

// Starts `command` with what `environment` gives for the child's process id added to the environment, and waits for it.
// A signal that somebody sends to us goes on to the program; what the terminal sends (Ctrl-C) it gets itself, and we wait
// for what it makes of it. `on_tick` is called about every `interval` meanwhile. Throws CannotStart.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& command,
                                    const std::function<std::map<std::string, std::string>(int pid)>& environment,
                                    std::chrono::milliseconds interval, const std::function<void()>& on_tick);

}  // namespace dlkprof::cli
