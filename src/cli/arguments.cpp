#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::cli {
namespace {

// A name in the form in which names are compared.
std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Goes over a command line once, before CLI11 does: brings long option names to the spelling of the App, refuses
// unknown ones, and finds where the options end. CLI11 alone would take a mistyped option for the program to run.
class Speller {
 public:
  Speller(const CLI::App& app, OptionsEnd end) : end_(end), name_(app.get_name()) {
    for (const CLI::Option* option : app.get_options()) {
      const bool is_flag = option->get_items_expected_max() == 0;
      for (const std::string& name : option->get_lnames()) long_[plain(name)] = {name, is_flag};
      for (const std::string& name : option->get_snames()) short_[name.front()] = is_flag;
    }
  }

  // Ours into options(), the rest into program().
  void read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const bool is_option = word.size() > 1 && word.front() == '-';
      if (word == "--" || (!is_option && end_ == OptionsEnd::at_positional)) return rest(words, i);
      bool takes_next = false;
      if (word.starts_with("--")) {
        takes_next = read_long(word);
      } else {
        options_.push_back(word);
        if (is_option) takes_next = short_takes_next(word);
      }
      if (takes_next && i + 1 < words.size()) options_.push_back(words[++i]);
    }
  }

  [[nodiscard]] std::vector<std::string>& options() { return options_; }
  [[nodiscard]] std::vector<std::string>& program() { return program_; }

 private:
  struct LongOption {
    std::string name;
    bool is_flag = false;
  };

  // Whether the option's value is the next word.
  bool read_long(const std::string& word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto found = long_.find(plain(word.substr(2, equals - 2)));
    if (found == long_.end()) unknown(word.substr(0, equals));
    options_.push_back("--" + found->second.name + word.substr(equals));
    return equals == word.size() && !found->second.is_flag;
  }

  // -fk value: flags may be bundled, and what follows an option that takes a value is its value.
  [[nodiscard]] bool short_takes_next(const std::string& word) const {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto found = short_.find(word[i]);
      if (found == short_.end()) unknown(word);
      if (!found->second) return i + 1 == word.size();
    }
    return false;
  }

  void rest(const std::vector<std::string>& words, std::size_t from) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(from);
    if (end_ == OptionsEnd::at_double_dash) {
      options_.insert(options_.end(), begin, words.end());
    } else {
      program_.assign(*begin == "--" ? begin + 1 : begin, words.end());
    }
  }

  [[noreturn]] void unknown(const std::string& word) const {
    std::vector<std::string> names;
    for (const auto& [compared, option] : long_) names.push_back("--" + option.name);
    const std::string near = closest(plain(word), names);
    throw UsageError(
        fmt::format("there is no option {}", printable(word, 80)), "",
        near.empty() ? fmt::format("The options there are: {} --help", name_) : fmt::format("Did you mean {}?", near));
  }

  OptionsEnd end_;
  std::string name_;
  std::map<std::string, LongOption> long_;  // by the plain name
  std::map<char, bool> short_;              // whether it is a flag
  std::vector<std::string> options_, program_;
};

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (!text.ends_with('\n')) std::fputc('\n', stdout);
}

}  // namespace

Parsed parse(CLI::App& app, int argc, char** argv, OptionsEnd end) {
  Speller speller(app, end);
  speller.read({argv + std::min(argc, 1), argv + argc});
  Parsed parsed;
  parsed.program = std::move(speller.program());
  try {
    std::vector<std::string>& words = speller.options();
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    parsed.done = true;
  } catch (const CLI::CallForAllHelp&) {
    print(app.help("", CLI::AppFormatMode::All));
    parsed.done = true;
  } catch (const CLI::CallForVersion& version) {
    print(version.what());
    parsed.done = true;
  } catch (const CLI::ParseError& error) {
    throw UsageError(printable(error.what()), "", fmt::format("The options there are: {} --help", app.get_name()));
  }
  return parsed;
}

}  // namespace dlkprof::cli
