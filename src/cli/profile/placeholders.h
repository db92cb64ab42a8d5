// What stands for something else in --output_path and --base_name, as in Nsight Systems and Nsight Compute:
//   %h        the name of this host
//   %p        the id of this dlkprof process
//   %q{NAME}  the environment variable NAME
//   %i, %n    the smallest number from 1 on that gives a name which is not taken
//   %%        a per cent sign
#pragma once

#include "cli/outputs.h"

namespace dlkprof::cli {

// Puts in what they stand for. Throws UsageError for others, and for a variable that is not set.
void fill_placeholders(Outputs& outputs);

}  // namespace dlkprof::cli
