// The command line of profiling: `dlkprof [options] [--] <program> [arguments]`, and its options for other verbs that profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/options.h"
#include "cli/analysis.h"
#include "cli/outputs.h"
#include "cupti/catalogue.h"

namespace CLI {
class App;
}

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
  bool dry_run = false;              // print the plan of collecting, and run nothing
  std::string chip;                  // that the plan is for; empty: the GPU here
  bool stacks = false;               // modules say where Python calls them
  bool without_ops = false;          // --timeline auto records none here, as only kernels were picked
  bool reports_named = false;        // --reports or --formats was given
  bool sections_named = false;       // --set, --section or --metrics was given
  std::vector<std::string> program;  // and its arguments
};

// --section of instructions (cupti/sass_counter.h), which is none of the catalogue's.
inline constexpr const char* kSourceSection = "source";

// Words as they were typed, before they are given meaning.
struct TypedProfile {
  std::string replay_mode = "auto", cache_control = "none", samples, timeline = "auto";
  std::string pc_sampling;        // empty: not asked for
  std::uint64_t iterations = 50;  // long enough for the spread of iterations
  std::string target_processes = "all", profile_from_start = "on", verbosity = "normal", devices;
  std::vector<std::string> sections, reports, formats, metrics;
  std::string set;
  bool stacks = false;
};

// What a profile is for. Comparing needs its database, and so a timeline.
enum class Purpose : std::uint8_t { any, comparing };

// All options of profiling but --database, on the command line of a verb: the App writes into this object while it parses.
class ProfileArguments {
 public:
  ProfileArguments(CLI::App& app, const cupti::Catalogue& catalogue);
  ProfileArguments(const ProfileArguments&) = delete;
  ProfileArguments& operator=(const ProfileArguments&) = delete;
  ~ProfileArguments() = default;

  // What was parsed. Throws UsageError.
  [[nodiscard]] ProfileCommand command(std::vector<std::string> program, const cupti::Catalogue& catalogue, Purpose purpose);

 private:
  TypedProfile typed_;
  ProfileCommand command_;
};

// None where help or the version was printed. Throws UsageError: nothing was started yet.
[[nodiscard]] std::optional<ProfileCommand> parse_profile(int argc, char** argv, const cupti::Catalogue& catalogue);

}  // namespace dlkprof::cli
