#include "cli/usage/help_text.h"

#include <dlkprof/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/usage/option_facts.h"
#include "cli/verbs.h"
#include "report/format/layout.h"

namespace dlkprof::cli {
namespace {

constexpr std::size_t kIndent = 2, kTextColumn = 27, kVerbColumn = 14;
constexpr const char* kUngrouped = "Options";  // CLI11's name for what has no group

const Verb& verb_of(const CLI::App& app) {
  const std::string& name = app.get_name();
  const std::size_t blank = name.find(' ');
  const Verb* verb = blank == std::string::npos ? nullptr : find_verb(std::string_view(name).substr(blank + 1));
  return verb != nullptr ? *verb : verbs().front();
}

// A term, and beside it, or below where it is too long, what is said of it.
std::string term(const std::string& name, const std::string& words, std::size_t column, std::size_t width) {
  const std::string indented = std::string(kIndent, ' ') + name;
  const bool fits = report::display_width(indented) + 1 < column;
  const std::string start = fits ? report::pad_right(indented, column) : indented + "\n" + std::string(column, ' ');
  return start + report::wrap(words, width, column, column) + "\n";
}

// "-k, --kernel-name <name>".
std::string written(const OptionFacts& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  if (option.positional) return "<" + names + ">";
  return option.value.empty() || option.value.starts_with('[') ? names + option.value : names + " " + option.value;
}

// The groups in the order of their first option; what has none comes last.
std::vector<std::string> groups_of(const std::vector<OptionFacts>& options) {
  std::vector<std::string> groups;
  for (const OptionFacts& option : options) {
    const bool has_group = !option.positional && option.group != kUngrouped;
    if (has_group && std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  groups.emplace_back(kUngrouped);
  return groups;
}

std::string title_of(const std::string& group, std::size_t groups) {
  return group == kUngrouped && groups > 1 ? "Other options" : group;
}

// A command line may be cut anywhere between its words, where a shell goes on after a backslash.
std::string wrapped_command(const std::string& command, std::size_t width) {
  constexpr std::size_t kDeep = 6;
  std::string text = report::wrap(command, width - 2, kDeep, 4);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3)) text.insert(at, " \\");
  return std::string(4, ' ') + text + "\n";
}

std::string examples_text(const Verb& verb, std::size_t width) {
  std::string text;
  for (const Example& example : verb.examples) {
    text += std::string(kIndent, ' ') + report::wrap(std::string(example.what) + ":", width, kIndent, kIndent) + "\n";
    text += wrapped_command(example.command, width);
  }
  return text.empty() ? "" : "\nExamples:\n" + text;
}

// Hyphens are to stay such, and nothing is to be taken for a request.
std::string troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

}  // namespace

std::string verb_list(std::size_t width) {
  std::string text = "Verbs:\n";
  for (const Verb& verb : verbs()) {
    if (!verb.name.empty()) text += term(std::string(verb.name), verb.summary, kVerbColumn, width);
  }
  return text;
}

std::string help_text(const CLI::App& app, std::size_t width) {
  const Verb& verb = verb_of(app);
  const std::vector<OptionFacts> options = options_of(app);
  std::string text = "Usage:\n";
  for (const std::string& line : split(verb.synopsis, '\n')) text += std::string(kIndent, ' ') + line + "\n";
  text += "\n" + report::wrap(app.get_description(), width, 0, 0) + "\n";
  if (verb.name.empty()) text += "\n" + verb_list(width);
  if (std::any_of(options.begin(), options.end(), [](const auto& option) { return option.positional; })) text += "\n";
  for (const OptionFacts& option : options) {
    if (option.positional) text += term(written(option), option.help, kTextColumn, width);
  }
  const std::vector<std::string> groups = groups_of(options);
  for (const std::string& group : groups) {
    text += "\n" + title_of(group, groups.size()) + ":\n";
    for (const OptionFacts& option : options) {
      if (!option.positional && option.group == group) text += term(written(option), option.help, kTextColumn, width);
    }
  }
  return text + examples_text(verb, width);
}

std::string manual_page(const CLI::App& app) {
  const Verb& verb = verb_of(app);
  const std::vector<OptionFacts> options = options_of(app);
  const std::string name = verb.name.empty() ? "dlkprof" : fmt::format("dlkprof-{}", verb.name);
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"dlkprof {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n{}\n.fi\n.SH DESCRIPTION\n{}\n", troff(name),
      DLKPROF_VERSION, troff(name), troff(verb.summary), troff(verb.synopsis), troff(app.get_description()));
  const auto add = [&text](const OptionFacts& option) {
    text += fmt::format(".TP\n.B {}\n{}\n", troff(written(option)), troff(option.help));
  };
  for (const OptionFacts& option : options) {
    if (option.positional) add(option);
  }
  const std::vector<std::string> groups = groups_of(options);
  for (const std::string& group : groups) {
    text += fmt::format(".SH {}\n", troff(title_of(group, groups.size())));
    for (const OptionFacts& option : options) {
      if (!option.positional && option.group == group) add(option);
    }
  }
  if (!verb.examples.empty()) text += ".SH EXAMPLES\n";
  for (const Example& example : verb.examples) {
    text += fmt::format(".TP\n{}:\n.nf\n{}\n.fi\n", troff(example.what), troff(example.command));
  }
  text += ".SH SEE ALSO\n";
  const char* before = "";
  for (const Verb& other : verbs()) {
    if (&other == &verb) continue;
    text += fmt::format("{}\\fB{}\\fR(1)", before, troff(other.name.empty() ? "dlkprof" : fmt::format("dlkprof-{}", other.name)));
    before = ",\n";
  }
  return text + "\n";
}

}  // namespace dlkprof::cli
