#include "cli/usage/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/usage/option_facts.h"
#include "cli/verbs.h"

namespace dlkprof::cli {
namespace {

// Before and after the tables that are made here: what finds the verb, the option whose value is being typed and, for profiling,
// where the program begins. Bash takes --name=value for three words.
constexpr std::string_view kBegin = R"(# Completes the command lines of dlkprof. Made by: dlkprof completion bash
_dlkprof_complete() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} verb= options= valued= words= file= i
  [[ $current == = ]] && current=
  [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD-2]}
)";
constexpr std::string_view kEnd = R"(
  if [[ $verb == profile || $verb == sweep ]]; then
    for ((i = 1; i < COMP_CWORD; i++)); do
      local word=${COMP_WORDS[i]}
      [[ $i == 1 && $word == sweep ]] && continue
      if [[ $word == -- ]]; then ((i++)); break; fi
      if [[ $word == -* ]]; then
        [[ ${COMP_WORDS[i+1]} == = ]] && { ((i += 2)); continue; }
        [[ " $valued " == *" $word "* ]] && ((i++))
        [[ $word == -L || $word == --parameter-list ]] && ((i++))
        continue
      fi
      break
    done
    if ((i < COMP_CWORD)); then
      if declare -F _command_offset > /dev/null; then _command_offset "$i"; else COMPREPLY=($(compgen -f -- "$current")); fi
      return
    fi
  fi
  if [[ " $valued " == *" $option "* ]]; then
    case "$verb $option" in
)";
constexpr std::string_view kLast = R"(    esac
    if [[ -z $words ]]; then
      COMPREPLY=($(compgen -f -- "$current"))
    else
      local before=
      [[ $current == *,* ]] && before=${current%,*},
      COMPREPLY=($(compgen -P "$before" -W "$words" -- "${current##*,}"))
    fi
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$file" -- "$current") $(compgen -f -- "$current"))
    [[ $verb == profile ]] && COMPREPLY+=($(compgen -c -- "$current"))
  fi
}
)";

struct VerbFacts {
  std::string name;
  std::vector<OptionFacts> options;
};

std::vector<VerbFacts> all_verbs() {
  std::vector<VerbFacts> all;
  for (const Verb& verb : verbs()) {
    VerbFacts facts{verb.name.empty() ? "profile" : std::string(verb.name), {}};
    const AppSeen seen([&facts](const CLI::App& app) { facts.options = options_of(app); });
    (void)verb.run(0, nullptr);
    all.push_back(std::move(facts));
  }
  return all;
}

// Which words complete an argument that is no option: those of a positional argument, and of profiling the verbs.
std::string first_words(const VerbFacts& verb) {
  std::vector<std::string> words;
  for (const OptionFacts& option : verb.options) {
    if (option.positional) words.insert(words.end(), option.choices.begin(), option.choices.end());
  }
  if (verb.name == "profile" || verb.name == "help") {
    for (const Verb& other : verbs()) {
      if (!other.name.empty()) words.emplace_back(other.name);
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

bool takes_word(const OptionFacts& option) { return !option.positional && !option.value.empty() && option.value.front() != '['; }

std::string branch(const VerbFacts& verb) {
  std::vector<std::string> options, valued;
  for (const OptionFacts& option : verb.options) {
    if (option.positional) continue;
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (takes_word(option)) valued.insert(valued.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("    {})\n      options=\"{}\"\n      valued=\"{}\"\n      file=\"{}\" ;;\n", verb.name,
                     fmt::join(options, " "), fmt::join(valued, " "), first_words(verb));
}

// The words of the options that are known by them.
std::string choices_of_verb(const VerbFacts& verb) {
  std::string text;
  for (const OptionFacts& option : verb.options) {
    if (option.choices.empty() || !takes_word(option)) continue;
    std::string patterns;
    for (const std::string& name : option.names)
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", verb.name, name);
    text += fmt::format("      {}) words=\"{}\" ;;\n", patterns, fmt::join(option.choices, " "));
  }
  return text;
}

std::string bash_script(const std::vector<VerbFacts>& all) {
  std::vector<std::string> names;
  for (const VerbFacts& verb : all) {
    if (verb.name != "profile") names.push_back(verb.name);
  }
  std::string text(kBegin);
  text += fmt::format("  case \"${{COMP_WORDS[1]}}\" in\n    {}) ((COMP_CWORD > 1)) && verb=${{COMP_WORDS[1]}} ;;\n  esac\n",
                      fmt::join(names, "|"));
  text += "  case \"${verb:=profile}\" in\n";
  for (const VerbFacts& verb : all) text += branch(verb);
  text += "  esac";
  text += kEnd;
  for (const VerbFacts& verb : all) text += choices_of_verb(verb);
  text += kLast;
  return text + "complete -o filenames -F _dlkprof_complete dlkprof\n";
}

// A word of fish: between single quotes backslashes and single quotes take a backslash.
std::string fish_word(std::string_view text) {
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\\' || letter == '\'') word += '\\';
    word += letter;
  }
  return word + "'";
}

// A line of fish for an option: its names, the words that its value may be, and what it does up to the first full stop.
std::string fish_option(const std::string& condition, const OptionFacts& option) {
  std::string line = fmt::format("complete -c dlkprof -n {}", fish_word(condition));
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (takes_word(option)) line += " -r";
  if (takes_word(option) && !option.choices.empty()) {
    const std::string words = fmt::format("{}", fmt::join(option.choices, " "));
    line += " -f -a " + fish_word(option.list ? "(__fish_append , " + words + ")" : words);
  }
  return line + " -d " + fish_word(option.help.substr(0, option.help.find_first_of(".(:;"))) + "\n";
}

// With the verbs that there are in a variable. Where none was typed, a program is being profiled.
std::string fish_script(const std::vector<VerbFacts>& all) {
  std::string text = "# Completes the command lines of dlkprof. Made by: dlkprof completion fish\nset -g __dlkprof_verbs";
  for (const VerbFacts& verb : all) {
    if (verb.name != "profile") text += " " + verb.name;
  }
  text += "\n";
  for (const VerbFacts& verb : all) {
    const bool profiles = verb.name == "profile";
    const std::string condition =
        profiles ? "not __fish_seen_subcommand_from $__dlkprof_verbs" : "__fish_seen_subcommand_from " + verb.name;
    if (const std::string words = first_words(verb); !words.empty()) {
      text += fmt::format("complete -c dlkprof -n {} -a {}\n", fish_word(condition), fish_word(words));
    }
    for (const OptionFacts& option : verb.options) {
      if (!option.positional) text += fish_option(condition, option);
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell) {
  const std::vector<VerbFacts> all = all_verbs();
  if (shell == "fish") return fish_script(all);
  const std::string text = bash_script(all);
  return shell == "zsh" ? "#compdef dlkprof\nautoload -U +X bashcompinit && bashcompinit\n" + text : text;
}

}  // namespace dlkprof::cli
