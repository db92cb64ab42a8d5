// dlkprof: picks the verb, and turns errors into one message and an exit code.

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "base/error.h"
#include "base/terminal.h"
#include "cli/usage/help_text.h"
#include "cli/verbs.h"

namespace {

using dlkprof::cli::find_verb;

// `dlkprof --help report` is taken for `dlkprof help report`.
bool asks_for_help_of_verb(int argc, char** argv) {
  const std::string first = argv[1];
  return argc == 3 && (first == "--help" || first == "-h") && find_verb(argv[2]) != nullptr;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    throw dlkprof::UsageError("there is no program to profile, and no verb", "",
                              "Profile a program: dlkprof [options] python train.py\n\n" +
                                  dlkprof::cli::verb_list(dlkprof::text_width(STDERR_FILENO)) + "\nMore: dlkprof help");
  }
  if (asks_for_help_of_verb(argc, argv)) return dlkprof::cli::run_help(argc - 1, argv + 1);
  const dlkprof::cli::Verb* verb = *argv[1] == '\0' ? nullptr : find_verb(argv[1]);
  return verb != nullptr ? verb->run(argc - 1, argv + 1) : dlkprof::cli::run_profile(argc, argv);
}

int complain(const std::string& message, int exit_code) {
  std::fprintf(stderr, "dlkprof: %s\n", message.c_str());
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const dlkprof::UsageError& error) {
    return complain(error.message(), 2);
  } catch (const dlkprof::Error& error) {
    return complain(error.message(), 1);
  } catch (const std::exception& error) {
    return complain(std::string("something unexpected went wrong: ") + error.what(), 1);
  }
}
