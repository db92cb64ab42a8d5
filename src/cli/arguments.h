// Command lines as every verb of ours reads them: --name=value and --name value, with `_` and `-` the same in the name
// of a long option, and mistakes as UsageError.
#pragma once

#include <cstdint>
#include <functional>
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
  bool after_dashes = false;         // and it stood behind `--`
};

// Parses argv[1..argc) into `app`. An option takes one value a time it is given, none where it is a flag, and several where
// it has a type_size() of so many: options of vectors have ->allow_extra_args(false), and a delimiter if they are lists. As
// DLProf's guide writes them, a flag may be followed by true or false, and a list whose words are known by more of them. Throws
// UsageError; for an unknown option it names ours or the closest one.
[[nodiscard]] Parsed parse(CLI::App& app, int argc, char** argv, OptionsEnd end = OptionsEnd::at_double_dash);

// While it lives, parse() shows the App to `see`, parses nothing and says that all is done: the options of a verb are defined
// where it runs, and this is how its manual page and its completion come to know them. One at a time.
class AppSeen {
 public:
  explicit AppSeen(std::function<void(const CLI::App&)> see);
  AppSeen(const AppSeen&) = delete;
  AppSeen& operator=(const AppSeen&) = delete;
  ~AppSeen();
};

// For ->check(): a number from 0 on; a whole number in a range; one of these words; anything but nothing, else `remedy` says
// what.
[[nodiscard]] CLI::Validator not_negative();
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
[[nodiscard]] CLI::Validator not_empty(std::string remedy);
// For help and completion alone: whether a word is one of them is looked at later.
[[nodiscard]] CLI::Validator suggested(const std::vector<std::string>& words);

}  // namespace dlkprof::cli
