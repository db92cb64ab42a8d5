#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
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
      const auto values = static_cast<std::size_t>(std::min(option->get_items_expected_max(), option->get_type_size_max()));
      for (const std::string& name : option->get_lnames()) long_[plain(name)] = {name, values};
      for (const std::string& name : option->get_snames()) short_[name.front()] = values;
    }
  }

  // Ours into options(), the rest into program().
  void read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const bool is_option = word.size() > 1 && word.front() == '-';
      if (word == "--" || (!is_option && end_ == OptionsEnd::at_positional)) return rest(words, i);
      std::size_t takes = 0;  // of the next words
      if (word.starts_with("--")) {
        takes = read_long(word);
      } else {
        options_.push_back(word);
        if (is_option) takes = taken_by_short(word);
      }
      for (; takes > 0 && i + 1 < words.size(); --takes) options_.push_back(words[++i]);
    }
  }

  [[nodiscard]] std::vector<std::string>& options() { return options_; }
  [[nodiscard]] std::vector<std::string>& program() { return program_; }

 private:
  struct LongOption {
    std::string name;
    std::size_t values = 0;  // 0: a flag
  };

  // How many of the next words are values of the option.
  std::size_t read_long(const std::string& word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto found = long_.find(plain(word.substr(2, equals - 2)));
    if (found == long_.end()) unknown(word.substr(0, equals));
    options_.push_back("--" + found->second.name + word.substr(equals));
    return left(found->second.values, equals == word.size());
  }

  // -fk value: flags may be bundled, and what follows an option that takes a value is its value.
  [[nodiscard]] std::size_t taken_by_short(const std::string& word) const {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto found = short_.find(word[i]);
      if (found == short_.end()) unknown(word);
      if (found->second > 0) return left(found->second, i + 1 == word.size());
    }
    return 0;
  }

  // Of `values` those that are words of their own: the first may stand with the option's name.
  [[nodiscard]] static std::size_t left(std::size_t values, bool apart) { return values - (apart || values == 0 ? 0 : 1); }

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
  std::map<char, std::size_t> short_;       // its values
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

CLI::Validator not_negative() {
  return {[](const std::string& text) -> std::string {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size()) return text + " is not a number";
            return value >= 0 && std::isfinite(value) ? "" : text + " is not a number from 0 on";
          },
          "NONNEGATIVE"};
}

}  // namespace dlkprof::cli
