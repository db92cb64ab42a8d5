// Command lines as every verb of ours reads them: --name=value and --name value, with `_` and `-` the same in the name
// of a long option, and CLI11's complaints as UsageError.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace dlkprof::cli {

// Where our options end.
enum class OptionsEnd : std::uint8_t {
  at_double_dash,  // options and positional arguments may be mixed
  at_positional,   // the first argument that is no option begins the program to run, and the rest is the program's
};

struct Parsed {
  bool done = false;                 // --help or --version was asked for, and printed
  std::vector<std::string> program;  // with at_positional: the program and its arguments, untouched
};

// Parses argv[1..argc) into `app`. An option takes one value a time it is given, none where it is a flag, and several where
// it has a type_size() of so many: options of vectors have ->allow_extra_args(false), and a delimiter if they are lists. Throws
// UsageError; for an unknown option it names the closest one.
[[nodiscard]] Parsed parse(CLI::App& app, int argc, char** argv, OptionsEnd end = OptionsEnd::at_double_dash);

// For ->check(): a number from 0 on. CLI11's own names the largest double there is, in all its digits.
[[nodiscard]] CLI::Validator not_negative();

}  // namespace dlkprof::cli
