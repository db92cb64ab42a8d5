// The verbs of the command line: one function and one file each. Each returns the exit code and throws
// UsageError (main: exit code 2) or Error (exit code 1), of which main prints the message.
#pragma once

namespace dlkprof::cli {

// argv[0] is the verb.
[[nodiscard]] int run_report(int argc, char** argv);
[[nodiscard]] int run_compare(int argc, char** argv);
[[nodiscard]] int run_sweep(int argc, char** argv);
[[nodiscard]] int run_demo(int argc, char** argv);
[[nodiscard]] int run_metrics(int argc, char** argv);
[[nodiscard]] int run_doctor(int argc, char** argv);

// argv is the whole command line: profiling has no verb of its own.
[[nodiscard]] int run_profile(int argc, char** argv);

}  // namespace dlkprof::cli
