// A sweep: `dlkprof sweep -L batch_size 4,512 [options] -- <program> --batch_size {batch_size}`.
#pragma once

#include <vector>

#include "cli/compare/compare_command.h"
#include "cli/profile/profile_options.h"
#include "cli/sweep/sweep_plan.h"
#include "cupti/catalogue.h"

namespace dlkprof::cli {

struct SweepCommand {
  std::vector<Parameter> parameters;
  ProfileCommand profile;     // of every run; its program and base name are those of the whole sweep
  CompareCommand comparison;  // of it only the formats: what is compared, and where it goes, follows from the rest
  bool resume = false;        // what an earlier sweep made is not made again
  bool dry_run = false;       // print what would be run
};

// Profiles the program once with each combination of values, one run after the other, and compares those that ended well. Returns
// the exit code: 0; 1 where a run or the comparison failed; 128 + n where signal n ended it early. Throws UsageError before
// anything is started; Error.
[[nodiscard]] int sweep(const SweepCommand& command, const cupti::Catalogue& catalogue);

}  // namespace dlkprof::cli
