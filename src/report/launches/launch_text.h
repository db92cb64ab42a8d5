// A launch in words: what reports call kernels, configurations and ways of collecting.
#pragma once

#include <string>

#include "model/timeline/pc_samples.h"
#include "model/timeline/timeline.h"
#include "report/format/table.h"

namespace dlkprof::report {

// "(16, 16, 1)", as Nsight Compute writes grids and blocks.
[[nodiscard]] std::string dim_text(const capture::Dim3& size);

// Names of the kernel of a configuration; what the capture does not describe is called "unknown function 7".
[[nodiscard]] std::string base_name(const model::Timeline& timeline, const model::Config& config);
[[nodiscard]] std::string demangled_name(const model::Timeline& timeline, const model::Config& config);
[[nodiscard]] std::string mangled_name(const model::Timeline& timeline, const model::Config& config);

// As the command line spells it: "kernel", "none".
[[nodiscard]] const char* replay_mode_name(capture::ReplayMode mode);

// Why a launch was skipped, for a sentence.
[[nodiscard]] const char* skip_reason_text(capture::SkipReason reason);

// "Note", "Warning", "Error".
[[nodiscard]] const char* notice_label(capture::Severity severity);

// The period of PC sampling in cycles, for columns that say how figures came about: a number, or "131072 to 524288" where it was
// lengthened on the way; empty where nothing was sampled.
[[nodiscard]] Cell sampling_period(const model::PcSamples& samples);

}  // namespace dlkprof::report
