// One profile: the program is started with the injected library and waited for, and what came is shown and written.
#pragma once

#include "cli/profile/child.h"
#include "cli/profile/profile_options.h"

namespace dlkprof::cli {

struct ProfileOutcome {
  ChildResult program;        // where it was not started, the exit code that says so
  std::string not_started;    // why; empty where it ran
  bool has_database = false;  // this run wrote it
};

// The facts in the database that tell how the program ended.
inline constexpr const char* kFactSource = "dlkprof";
inline constexpr const char* kExitCodeFact = "exit_code";
inline constexpr const char* kToldToEndFact = "told_to_end";  // the signal that dlkprof got meanwhile; else there is none

// What is asked of the injected library, as captures keep it.
[[nodiscard]] capture::ProfileOptions options_for(const ProfileCommand& command);

// What can be found wrong with the options before anything is started. Throws UsageError; Error where the installation is
// incomplete.
void check_profile(const ProfileCommand& command, const cupti::Catalogue& catalogue);

// Makes the folder for what comes, and makes sure that files can be made in it and that none is in the way. Makes the path of the
// folder absolute. Throws UsageError.
void check_place(ProfileCommand& command);

// Starts the program, after check_profile(). Whatever goes wrong once it has run is said, and no more. Throws UsageError as
// check_place() does.
[[nodiscard]] ProfileOutcome profile(ProfileCommand command, const cupti::Catalogue& catalogue);

}  // namespace dlkprof::cli
