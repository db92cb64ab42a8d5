// The verbs of the command line: one function and one file each. Each returns the exit code and throws
// UsageError (main: exit code 2) or Error (exit code 1), of which main prints the message.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dlkprof::cli {

// argv[0] is the verb.
[[nodiscard]] int run_report(int argc, char** argv);
[[nodiscard]] int run_compare(int argc, char** argv);
[[nodiscard]] int run_view(int argc, char** argv);
[[nodiscard]] int run_sweep(int argc, char** argv);
[[nodiscard]] int run_export(int argc, char** argv);
[[nodiscard]] int run_merge(int argc, char** argv);
[[nodiscard]] int run_mcp(int argc, char** argv);
[[nodiscard]] int run_demo(int argc, char** argv);
[[nodiscard]] int run_metrics(int argc, char** argv);
[[nodiscard]] int run_doctor(int argc, char** argv);
[[nodiscard]] int run_help(int argc, char** argv);
[[nodiscard]] int run_completion(int argc, char** argv);

// argv is the whole command line: profiling has no verb of its own.
[[nodiscard]] int run_profile(int argc, char** argv);

struct Example {
  const char* what;
  const char* command;
};

struct Verb {
  std::string_view name;  // empty: profiling
  int (*run)(int argc, char** argv);
  const char* synopsis;  // of its help: lines of what may be typed
  const char* summary;   // in the list of verbs
  std::span<const Example> examples;
};

// Profiling first, then the verbs in the order of their list. A program that is called like one of them is given after `--`.
[[nodiscard]] std::span<const Verb> verbs();

// None where there is no verb of that name.
[[nodiscard]] const Verb* find_verb(std::string_view name);

// What somebody may have meant by a word that is neither a verb nor a program: "Did you mean dlkprof report?"; empty where
// nothing comes near.
[[nodiscard]] std::string meant_by(std::string_view word);

// "dlkprof" or "dlkprof report".
[[nodiscard]] std::string command_name(const Verb& verb);

}  // namespace dlkprof::cli
