#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/installation.h"
#include "cli/usage/foreign_options.h"
#include "cli/usage/help_text.h"
#include "cli/usage/option_facts.h"
#include "cli/usage/programs.h"

namespace dlkprof::cli {
namespace {

constexpr std::size_t kShown = 80;        // columns of a word in a message
constexpr std::size_t kWidestHelp = 100;  // longer lines are hard to read

std::function<void(const CLI::App&)>& app_seen() {
  static std::function<void(const CLI::App&)> see;
  return see;
}

// A name in the form in which names are compared.
std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_in(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What somebody may well mean for true or false, and what --name=value takes for it.
bool is_nearly_boolean(const std::string& word) {
  static const std::vector<std::string> kWords{"yes", "no", "on", "off", "t", "f", "y", "n"};
  const bool digits =
      !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits || is_in(lower(word), kWords);
}

// Goes over a command line once, before CLI11 does: brings long option names to the spelling of the App, refuses
// unknown ones, and finds where the options end. CLI11 alone would take a mistyped option for the program to run.
class Speller {
 public:
  Speller(const CLI::App& app, OptionsEnd end) : end_(end), name_(app.get_name()) {
    for (const CLI::Option* option : app.get_options()) {
      Known known;
      known.values = static_cast<std::size_t>(std::min(option->get_items_expected_max(), option->get_type_size_max()));
      known.name = option->get_lnames().empty() ? "" : option->get_lnames().front();
      known.own_values = known.values == 0 && option->get_type_name().starts_with('[');
      if (option->get_delimiter() != '\0') known.choices = choices_of(*option);
      for (const std::string& name : option->get_lnames()) {
        known.name = name;
        long_[plain(name)] = known;
      }
      for (const std::string& name : option->get_snames()) short_[name.front()] = known;
    }
  }

  // Ours into options(), the rest into program().
  void read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const bool is_option = word.size() > 1 && word.front() == '-';
      if (word == "--" || (!is_option && end_ == OptionsEnd::at_positional)) return rest(words, i);
      if (word.starts_with("--")) {
        i = read_long(words, i);
      } else if (is_option) {
        i = read_short(words, i);
      } else {
        options_.push_back(word);
      }
    }
  }

  [[nodiscard]] std::vector<std::string>& options() { return options_; }
  [[nodiscard]] std::vector<std::string>& program() { return program_; }
  [[nodiscard]] bool after_dashes() const { return after_dashes_; }

 private:
  struct Known {
    std::string name;                  // the long one
    std::size_t values = 0;            // 0: a flag
    bool own_values = false;           // a flag that takes others than true and false, after `=` alone
    std::vector<std::string> choices;  // of a list
  };

  // Both return the number of the last word that belongs to the option of words[i].
  std::size_t read_long(const std::vector<std::string>& words, std::size_t i) {
    const std::string& word = words[i];
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto found = long_.find(plain(word.substr(2, equals - 2)));
    if (found == long_.end()) unknown(word.substr(0, equals));
    const Known& option = found->second;
    const bool apart = equals == word.size();
    if (equals + 1 == word.size()) {  // CLI11 would take the next word for the value
      throw UsageError(fmt::format("--{}= gives no value", option.name), "",
                       fmt::format("Give one, or leave --{} out.", option.name));
    }
    if (option.values == 0) return apart ? read_flag(option, words, i) : read_boolean(option, word.substr(equals + 1), i);
    options_.push_back("--" + option.name + word.substr(equals));
    if (!apart) check_value(option, word.substr(equals + 1));
    return take_values(option, words, i, option.values - (apart ? 0 : 1));
  }

  // -fk value: flags may be bundled, and what follows an option that takes a value is its value.
  std::size_t read_short(const std::vector<std::string>& words, std::size_t i) {
    const std::string& word = words[i];
    for (std::size_t letter = 1; letter < word.size(); ++letter) {
      const auto found = short_.find(word[letter]);
      if (found == short_.end()) unknown(letter == 1 ? word.substr(0, 2) : word);
      const Known& option = found->second;
      const bool last = letter + 1 == word.size();
      if (option.values == 0 && last) {
        if (letter > 1) options_.push_back(word.substr(0, letter));
        return read_flag(option, words, i);
      }
      if (option.values == 0) continue;
      options_.push_back(word);
      if (!last) check_value(option, word.substr(letter + 1));
      return take_values(option, words, i, option.values - (last ? 0 : 1));
    }
    return i;
  }

  // A flag in a word of its own: what follows may say true or false, and is never the program then.
  std::size_t read_flag(const Known& option, const std::vector<std::string>& words, std::size_t i) {
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    if (lower(next) == "true" || lower(next) == "false") return read_boolean(option, next, i + 1);
    if (end_ == OptionsEnd::at_positional && is_nearly_boolean(next)) {
      throw UsageError(fmt::format("--{} {}: {}", option.name, printable(next, kShown),
                                   option.own_values ? "its value is given after an equals sign" : "a flag is true or false"),
                       "",
                       fmt::format("Write --{}={}, or -- before a program of that name.", option.name,
                                   option.own_values ? printable(next, kShown) : "true"));
    }
    options_.push_back("--" + option.name);
    return i;
  }

  std::size_t read_boolean(const Known& option, const std::string& value, std::size_t i) {
    const bool is_true = lower(value) == "true";
    if (option.own_values) {
      if (lower(value) != "false") options_.push_back("--" + option.name + (is_true ? "" : "=" + value));
      return i;
    }
    if (!is_true && lower(value) != "false" && !is_nearly_boolean(value)) {
      throw UsageError(fmt::format("--{}={}: a flag is true or false", option.name, printable(value, kShown)), "", see_help());
    }
    options_.push_back("--" + option.name + "=" + lower(value));
    return i;
  }

  std::size_t take_values(const Known& option, const std::vector<std::string>& words, std::size_t i, std::size_t count) {
    if (count > 0 && i + count >= words.size()) {
      throw UsageError(
          fmt::format("--{} needs {}", option.name, option.values == 1 ? "a value" : fmt::format("{} values", option.values)), "",
          see_help());
    }
    for (; count > 0; --count) {
      check_value(option, words[++i]);
      options_.push_back(words[i]);
    }
    while (i + 1 < words.size() && belongs_to(option, words[i + 1])) options_.back() += "," + words[++i];
    return i;
  }

  // Whether a word after a list is one more of it: `--reports detail kernel --`. A mistyped one is, too, but for a program.
  static bool belongs_to(const Known& option, const std::string& word) {
    if (option.choices.empty() || word.starts_with('-')) return false;
    return is_in(word, option.choices) || (!closest(word, option.choices).empty() && !is_program(word));
  }

  static void check_value(const Known& option, const std::string& value) {
    const std::string answer = foreign_value(option.name, value);
    if (!answer.empty()) throw UsageError(fmt::format("there is no --{} {}", option.name, value), "", answer);
  }

  void rest(const std::vector<std::string>& words, std::size_t from) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(from);
    if (end_ == OptionsEnd::at_double_dash) {
      options_.insert(options_.end(), begin, words.end());
    } else {
      after_dashes_ = *begin == "--";
      program_.assign(after_dashes_ ? begin + 1 : begin, words.end());
    }
  }

  [[nodiscard]] std::string see_help() const { return fmt::format("See {} --help.", name_); }

  [[noreturn]] void unknown(const std::string& word) const {
    std::vector<std::string> names;
    for (const auto& [compared, option] : long_) names.push_back("--" + option.name);
    std::string remedy = foreign_option(plain(word));
    const std::string near = closest(plain(word), names);
    if (remedy.empty()) remedy = near.empty() ? see_help() : fmt::format("Did you mean {}?", near);
    throw UsageError(fmt::format("there is no option {}", printable(word, kShown)), "", remedy);
  }

  OptionsEnd end_;
  std::string name_;
  std::map<std::string, Known> long_;  // by the plain name
  std::map<char, Known> short_;
  std::vector<std::string> options_, program_;
  bool after_dashes_ = false;
};

void print(const std::string& text) { print_data(text.ends_with('\n') ? text : text + '\n'); }

// In our words what CLI11 complains of.
std::string words_of_misuse(const CLI::ParseError& error, const CLI::App& app) {
  const std::string text = printable(error.what());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::string name = text.substr(0, text.find(' '));
    return name.starts_with('-') ? name + " is missing" : fmt::format("<{}> is missing", name);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> left = app.remaining();
    return fmt::format("there is an argument too many: {}", printable(left.empty() ? text : left.front(), kShown));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return fmt::format("{} is given more than once", text.substr(0, text.find(':')));
  }
  return text;
}

// "--kernels 2" has an argument too many, as such flags take a value after "=" alone.
std::string remedy_of_misuse(const CLI::ParseError& error, const CLI::App& app) {
  const std::vector<std::string> left =
      dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr ? std::vector<std::string>() : app.remaining();
  const bool is_number = !left.empty() && std::all_of(left.front().begin(), left.front().end(),
                                                      [](char letter) { return letter >= '0' && letter <= '9'; });
  if (is_number) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0 && option->get_type_name().starts_with("[="))
        return fmt::format("Did you mean {}={}?", option->get_name(), printable(left.front(), kShown));
    }
  }
  return fmt::format("See {} --help.", app.get_name());
}

// CLI11 takes the parts between commas and braces for the words.
std::string description_of(const std::vector<std::string>& words) { return fmt::format("{{{}}}", fmt::join(words, ",")); }

}  // namespace

Parsed parse(CLI::App& app, int argc, char** argv, OptionsEnd end) {
  Parsed parsed;
  app.get_help_ptr()->description("Print this help");
  if (app_seen()) {
    app_seen()(app);
    parsed.done = true;
    return parsed;
  }
  Speller speller(app, end);
  speller.read({argv + std::min(argc, 1), argv + argc});
  parsed.program = std::move(speller.program());
  parsed.after_dashes = speller.after_dashes();
  try {
    std::vector<std::string>& words = speller.options();
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    print(help_text(app, std::min(text_width(STDOUT_FILENO), kWidestHelp)));
    parsed.done = true;
  } catch (const CLI::CallForVersion& version) {
    print(version.what());
    parsed.done = true;
  } catch (const CLI::ParseError& error) {
    throw UsageError(words_of_misuse(error, app), "", remedy_of_misuse(error, app));
  }
  return parsed;
}

AppSeen::AppSeen(std::function<void(const CLI::App&)> see) { app_seen() = std::move(see); }
AppSeen::~AppSeen() { app_seen() = nullptr; }

CLI::Validator not_empty(std::string remedy) {
  return {[remedy = std::move(remedy)](const std::string& text) { return text.empty() ? "nothing is given. " + remedy : ""; },
          ""};
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

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[least, most](const std::string& text) -> std::string {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool whole = error == std::errc() && end == text.data() + text.size();
            if (whole && value >= least && value <= most) return "";
            return fmt::format("{} is not a whole number from {} to {}", text, least, most);
          },
          "WHOLE"};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string description = description_of(words);
  return {[words = std::move(words)](const std::string& text) -> std::string {
            if (is_in(text, words)) return "";
            const std::string near = closest(text, words);
            return fmt::format("{} is none of {}{}", text, fmt::join(words, ", "),
                               near.empty() ? "" : fmt::format("; did you mean {}?", near));
          },
          description};
}

CLI::Validator suggested(const std::vector<std::string>& words) {
  return {[](const std::string&) { return std::string(); }, description_of(words)};
}

}  // namespace dlkprof::cli
