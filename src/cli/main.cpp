// dlkprof: picks the verb, and turns errors into one message and an exit code.

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/say.h"
#include "base/terminal.h"
#include "cli/failure.h"
#include "cli/leave_nothing.h"
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
  dlkprof::say("dlkprof: {}\n", message);
  return exit_code;
}

// What the command line is about, as far as it is there.
std::vector<std::filesystem::path> files_in(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::filesystem::path path(word.starts_with("--") ? word.substr(word.find('=') + 1) : word);
    if (std::filesystem::is_regular_file(path, ignored)) files.push_back(path);
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  dlkprof::cli::leave_nothing_behind();
  try {
    return run(argc, argv);
  } catch (const dlkprof::UsageError& error) {
    return complain(error.message(), 2);
  } catch (const dlkprof::Error& error) {
    return complain(error.message(), 1);
  } catch (const std::exception& error) {
    return complain(dlkprof::cli::words_of(error, files_in(argc, argv)), 1);
  }
}
