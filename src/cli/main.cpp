// dlkprof: picks the verb, and turns errors into one message and an exit code.

#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/verbs.h"

namespace {

struct Verb {
  std::string_view name;
  int (*run)(int argc, char** argv);
};

// A program that is called like one of these is given after `--`.
constexpr Verb kVerbs[] = {
    {"report", dlkprof::cli::run_report}, {"compare", dlkprof::cli::run_compare}, {"sweep", dlkprof::cli::run_sweep},
    {"demo", dlkprof::cli::run_demo},     {"metrics", dlkprof::cli::run_metrics}, {"doctor", dlkprof::cli::run_doctor},
};

int run(int argc, char** argv) {
  for (const auto& verb : kVerbs) {
    if (argc > 1 && verb.name == argv[1]) return verb.run(argc - 1, argv + 1);
  }
  return dlkprof::cli::run_profile(argc, argv);
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
