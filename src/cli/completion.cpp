// dlkprof completion: what completes command lines of dlkprof in a shell.

#include <CLI/CLI.hpp>
#include <string>

#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/usage/completion_script.h"
#include "cli/verbs.h"

namespace dlkprof::cli {

int run_completion(int argc, char** argv) {
  CLI::App app("Prints the script with which a shell completes the verbs, options and values of dlkprof.", "dlkprof completion");
  std::string shell;
  app.add_option("shell", shell, "The shell")->required()->check(one_of({"bash", "fish", "zsh"}));
  if (parse(app, argc, argv).done) return 0;
  print_data(completion_script(shell));
  return 0;
}

}  // namespace dlkprof::cli
