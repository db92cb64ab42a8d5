// What help, manual pages, completion and messages say of an option, taken from its CLI11 definition alone, so that they
// cannot drift from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dlkprof::cli {

struct OptionFacts {
  std::vector<std::string> names;    // "-k", "--kernel-name"; of a positional argument its name
  std::string value;                 // as help writes it: "<name>", "on|off"; empty for a flag
  std::vector<std::string> choices;  // the words that may be given; empty where any may be
  std::string help;                  // with the default
  std::string group;
  bool positional = false, list = false;
};

// The words that a value of the option is one of, by the validators one_of() and suggested(); empty where it has neither.
[[nodiscard]] std::vector<std::string> choices_of(const CLI::Option& option);

// The options and positional arguments of a command line, in the order of their definition.
[[nodiscard]] std::vector<OptionFacts> options_of(const CLI::App& app);

}  // namespace dlkprof::cli
