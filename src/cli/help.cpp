// dlkprof help: the help of a verb, also as a manual page, and what the program says of its database and rules.

#include <CLI/CLI.hpp>
#include <array>
#include <string>

#include "advise/rules.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/usage/help_text.h"
#include "cli/verbs.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

int show_help(const Verb& verb) {
  std::string name(verb.name.empty() ? "dlkprof" : verb.name), option = "--help";
  std::array words{name.data(), option.data()};
  return verb.run(static_cast<int>(words.size()), words.data());
}

int show_manual(const Verb& verb) {
  const AppSeen seen([](const CLI::App& app) { print_data(manual_page(app)); });
  return verb.run(0, nullptr);
}

}  // namespace

int run_help(int argc, char** argv) {
  CLI::App app("Shows the help of a verb; without one, that of profiling, and the verbs.", "dlkprof help");
  std::string name;
  bool manual = false;
  app.add_option("verb", name, "One of the verbs that dlkprof help lists; or schema: the database, rules: the expert system");
  app.add_flag("--man", manual, "As a manual page: dlkprof help --man report | man -l -");
  if (parse(app, argc, argv).done) return 0;
  if (name == "schema" || name == "rules") {
    print_data(name == "schema" ? store::describe_schema() : advise::describe_rules());
    return 0;
  }
  const Verb* verb = find_verb(name);
  if (verb == nullptr) {
    const std::string meant = meant_by(name);
    throw UsageError("there is no verb " + printable(name, 80), "", meant.empty() ? "See dlkprof help." : meant);
  }
  return manual ? show_manual(*verb) : show_help(*verb);
}

}  // namespace dlkprof::cli
