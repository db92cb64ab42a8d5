#include "cli/usage/option_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace dlkprof::cli {
namespace {

constexpr std::size_t kLongestChoice = 48;  // as a value; what is longer is listed in the text

// CLI11 writes "<type>:{a,b}"; types that nobody named are its own: "TEXT", "UINT".
std::string value_of(const CLI::Option& option, const std::string& choice) {
  if (!choice.empty() && choice.size() <= kLongestChoice) return choice;
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return name.starts_with('<') || name.starts_with('[') ? name : "<value>";
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0 || option.get_type_size_max() == 0; }

std::string help_of(const CLI::Option& option, const std::vector<std::string>& choices, const std::string& choice) {
  std::string text = option.get_description();
  if (choice.size() > kLongestChoice) {
    text += fmt::format(". {} of: {}", option.get_delimiter() == '\0' ? "One" : "Any", fmt::join(choices, ", "));
  }
  const std::string usual = option.get_default_str();
  return usual.empty() ? text : fmt::format("{} (default: {})", text, usual);
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  facts.positional = option.get_positional() && option.get_lnames().empty() && option.get_snames().empty();
  if (facts.positional) facts.names.push_back(option.get_name());
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  facts.choices = choices_of(option);
  const std::string choice = fmt::format("{}", fmt::join(facts.choices, "|"));
  const bool named = option.get_type_name().starts_with('[');  // a flag that takes a value after `=`
  if (!is_flag(option) || named) facts.value = value_of(option, choice);
  facts.help = help_of(option, facts.choices, choice);
  facts.group = option.get_group();
  facts.list = option.get_delimiter() != '\0';
  return facts;
}

}  // namespace

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{");
  if (begin == std::string::npos || !type.ends_with('}')) return {};
  return split(std::string_view(type).substr(begin + 2, type.size() - begin - 3), ',');
}

std::vector<OptionFacts> options_of(const CLI::App& app) {
  std::vector<OptionFacts> all;
  for (const CLI::Option* option : app.get_options()) all.push_back(facts_of(*option));
  return all;
}

}  // namespace dlkprof::cli
