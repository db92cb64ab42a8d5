// The command line of profiling: `dlkprof [options] [--] <program> [arguments]`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/options.h"
#include "cli/analysis.h"
#include "cli/outputs.h"
#include "cupti/catalogue.h"

namespace dlkprof::cli {

enum class Verbosity : std::uint8_t { quiet, minimal, normal, detailed, diagnostic };  // as DLProf names them

struct ProfileCommand {
  capture::ProfileOptions options;
  std::vector<cupti::Section> sections;    // what the tables show
  std::vector<std::string> extra_metrics;  // of --metrics
  Outputs outputs;
  Folding folding;
  Verbosity verbosity = Verbosity::normal;
  std::string database;              // fold this again instead of running a program: a database, a capture, or their folder
  bool reports_named = false;        // --reports or --formats was given
  bool sections_named = false;       // --set, --section or --metrics was given
  std::vector<std::string> program;  // and its arguments
};

// None where help or the version was printed. Throws UsageError: nothing was started yet.
[[nodiscard]] std::optional<ProfileCommand> parse_profile(int argc, char** argv, const cupti::Catalogue& catalogue);

}  // namespace dlkprof::cli
