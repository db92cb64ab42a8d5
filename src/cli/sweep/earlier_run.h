// What an earlier profile left under the names that a run would use.
#pragma once

#include <cstdint>

#include "cli/profile/profile_options.h"

namespace dlkprof::cli {

enum class EarlierRun : std::uint8_t {
  none,        // neither a database nor a capture
  complete,    // all that the run would write, made by the same command with the same options, and the program ended with 0
  refolded,    // the same, but the database was folded otherwise since: fold_again() makes it complete
  incomplete,  // made by the same, but the program failed or was told to end, or files are missing
  other,       // made by another command, with other options or by an older version; or what it is cannot be read
};

// Captures and databases keep what the library was asked for (options_for() in profile_command.h), and with it a fingerprint of
// the program's command line and of the folding; databases also keep how the program ended, and what each folding was asked for.
// What the program itself does, which may have changed since, nobody looks at; nor at the environment.
[[nodiscard]] EarlierRun earlier_run_of(const ProfileCommand& command);

// Folds the database of the run as the command asks, as the aggregation that is shown and compared. Throws Error.
void fold_again(const ProfileCommand& command);

}  // namespace dlkprof::cli
