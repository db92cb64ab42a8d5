#include "cli/usage/foreign_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace dlkprof::cli {
namespace {

constexpr const char* kDlprof = "DLProf";
constexpr const char* kNcu = "Nsight Compute";
constexpr const char* kNsys = "Nsight Systems";

// Said of several options.
constexpr const char* kName = "Use --base_name <name> and --output_path <folder>: all files begin with that name.";
constexpr const char* kFromStart =
    "Use --profile-from-start off: only what is between cudaProfilerStart and cudaProfilerStop counts.";
constexpr const char* kToTheEnd = "dlkprof lets the program run to its end and stops only measuring: use -c, -d or --samples.";

struct ForeignOption {
  std::string_view names;  // with blanks between
  const char* tool;
  const char* answer;
};

constexpr std::array kForeignOptions{
    ForeignOption{"--file-formats", kDlprof, "Use --formats csv,json."},
    ForeignOption{"--profile-name", kDlprof, kName},
    ForeignOption{"--nsys-opts --nsys-options --nsys-base-name --nsys-base-output-filename", kDlprof,
                  "dlkprof records the timeline itself and starts no Nsight Systems: leave it out. --timeline, --domains and "
                  "--devices say what is recorded."},
    ForeignOption{"--nsys-profile-range", kDlprof, kFromStart},
    ForeignOption{"--detailed-mode", kDlprof, "All that markers say is always recorded: leave it out."},
    ForeignOption{"--tb-dir", kDlprof, "There are no TensorBoard files: see dlkprof report."},
    ForeignOption{"-o --export", kNcu, kName},
    ForeignOption{"-i --import --open-in-ui", kNcu, "Use dlkprof report <file>."},
    ForeignOption{"--force-overwrite", kNcu, "Use --force."},
    ForeignOption{
        "--page", kNcu,
        "Use --reports: metrics for raw, kernels for details, source for source: dlkprof report <file> --reports metrics"},
    ForeignOption{"--csv", kNcu, "Use dlkprof report <file> --reports <report> --format csv, or --formats csv of a profile."},
    ForeignOption{"--print-summary", kNcu, "Use --reports measured, kernel or op_type: they sum up launches."},
    ForeignOption{"--print-details", kNcu, "Use dlkprof report <file> --reports kernels."},
    ForeignOption{"--print-units", kNcu, "csv and json have base units, tables have units that people read: leave it out."},
    ForeignOption{"--print-fp", kNcu, "Leave it out."},
    ForeignOption{"--print-kernel-base", kNcu, "Tables show names in full; csv and json have both forms: leave it out."},
    ForeignOption{"--log-file", kNcu, "Messages go to stderr alone: dlkprof ... 2> <file>"},
    ForeignOption{"--query-metrics", kNcu, "Use dlkprof metrics --query <regex>."},
    ForeignOption{"--query-metrics-mode", kNcu, "Use dlkprof metrics --query <regex> --submetrics."},
    ForeignOption{"--list-sets", kNcu, "Use dlkprof metrics --list-sets."},
    ForeignOption{"--list-sections", kNcu, "Use dlkprof metrics --list-sections."},
    ForeignOption{"--list-metrics", kNcu, "Use dlkprof metrics --list-sections, which names their metrics."},
    ForeignOption{"--list-chips", kNcu, "Use dlkprof metrics --list-chips."},
    ForeignOption{"--chips", kNcu, "Use dlkprof metrics --chip <chip>."},
    ForeignOption{"--kill", kNcu, kToTheEnd},
    ForeignOption{"--nvtx", kNcu, "NVTX ranges are recorded wherever ops are: use --timeline on."},
    ForeignOption{"--clock-control", kNcu, "Clocks are left as they are, and reports say what they were: leave it out."},
    ForeignOption{"--apply-rules --rule --list-rules", kNcu,
                  "The rules always run: --reports expert_systems shows what they found."},
    ForeignOption{"--import-source --source-folders --source-level-analysis", kNcu,
                  "--pc-sampling with --reports source shows samples by source line of programs compiled with -lineinfo."},
    ForeignOption{"--sampling-interval --warp-sampling-interval", kNcu, "Use --pc-sampling=<n>: one sample in 2^n cycles."},
    ForeignOption{"--graph-profiling", kNcu,
                  "Kernels inside CUDA graphs are always told apart; --replay-mode sample gives them counters by sampling."},
    ForeignOption{"--range-filter", kNcu, "Ranges are not replayed; --iter_start and --iter_stop pick iterations."},
    ForeignOption{"--target-processes-filter", kNcu, "Use --target-processes application-only, or --ranks."},
    ForeignOption{"--check-exit-code", kNcu, "dlkprof ends with the program's own exit code: leave it out."},
    ForeignOption{"--call-stack", kNcu, "Call stacks are not taken; ops say where a kernel was launched: --mode pytorch."},
    ForeignOption{"--section-folder", kNcu,
                  "Sections are those of dlkprof metrics --list-sections; --metrics adds single metrics."},
    ForeignOption{"-t --trace", kNsys,
                  "CUDA and NVTX are always recorded where ops are; --timeline on|off says whether, --mode for which framework."},
    ForeignOption{"--output", kNsys, kName},
    ForeignOption{"--stats", kNsys, "Use --reports kernel,op_type,summary."},
    ForeignOption{"--capture-range --capture-range-end --nvtx-capture", kNsys, kFromStart},
    ForeignOption{"--sample --cpuctxsw --backtrace --python-sampling", kNsys, "dlkprof samples GPUs alone: leave it out."},
    ForeignOption{"--gpu-metrics-device --gpu-metrics-devices", kNsys, "Use --replay-mode sample."},
    ForeignOption{"--gpu-metrics-frequency", kNsys, "Use --replay-mode sample --pm-sampling-interval <ns>."},
    ForeignOption{"--cuda-graph-trace", kNsys, "Kernels inside CUDA graphs are always told apart: leave it out."},
    ForeignOption{"--cuda-memory-usage", kNsys, "GPU memory in use is not recorded: leave it out."},
    ForeignOption{"--pytorch", kNsys, "Use --mode pytorch."},
    ForeignOption{"--stop-on-exit -x", kNsys, kToTheEnd},
    ForeignOption{"--show-output -w", kNsys, "The program keeps its stdout and stderr: leave it out."},
    ForeignOption{"--env-var -e", kNsys, "Set variables before dlkprof: NAME=value dlkprof ..."},
};

struct ForeignValue {
  const char* option;
  const char* value;
  const char* tool;
  const char* answer;
};

constexpr std::array kForeignValues{
    ForeignValue{"mode", "trtexec", kDlprof,
                 "Use --mode tensorrt and give trtexec as the program: dlkprof --mode tensorrt trtexec ..."},
    ForeignValue{
        "replay-mode", "application", kNcu,
        "The program is run once: use --replay-mode kernel, or iteration for programs that launch each kernel many times."},
    ForeignValue{"replay-mode", "app-range", kNcu, "The program is run once: use --replay-mode iteration."},
    ForeignValue{"replay-mode", "range", kNcu, "Ranges are not replayed: use --replay-mode kernel or iteration."},
    ForeignValue{"set", "default", kNcu, "Use --set basic, which is the default."},
    ForeignValue{"set", "source", kNcu, "Use --section source."},
    ForeignValue{"set", "roofline", kNcu, "Use --section roofline."},
    ForeignValue{"set", "pmsampling", kNcu, "Use --replay-mode sample."},
    ForeignValue{"section", "SpeedOfLight", kNcu, "Use --section speed_of_light."},
    ForeignValue{"section", "SpeedOfLight_RooflineChart", kNcu, "Use --section roofline."},
    ForeignValue{"section", "MemoryWorkloadAnalysis", kNcu, "Use --section memory."},
    ForeignValue{"section", "ComputeWorkloadAnalysis", kNcu, "Use --section compute."},
    ForeignValue{"section", "WarpStateStats", kNcu, "Use --section stall."},
    ForeignValue{"section", "SchedulerStats", kNcu, "Use --section scheduler."},
    ForeignValue{"section", "InstructionStats", kNcu, "Use --section instruction."},
    ForeignValue{"section", "LaunchStats", kNcu, "Use --section launch."},
    ForeignValue{"section", "SourceCounters", kNcu, "Use --section source."},
    ForeignValue{"section", "PmSampling", kNcu, "Use --replay-mode sample."},
};

std::string answered(const char* tool, const char* answer) { return fmt::format("That is {}'s. {}", tool, answer); }

}  // namespace

std::string foreign_option(std::string_view option) {
  const auto* found = std::find_if(kForeignOptions.begin(), kForeignOptions.end(), [option](const ForeignOption& one) {
    const std::vector<std::string> names = split(one.names, ' ');
    return std::find(names.begin(), names.end(), option) != names.end();
  });
  return found == kForeignOptions.end() ? "" : answered(found->tool, found->answer);
}

std::string foreign_value(std::string_view option, std::string_view value) {
  const auto* found = std::find_if(kForeignValues.begin(), kForeignValues.end(),
                                   [&](const auto& one) { return option == one.option && value == one.value; });
  return found == kForeignValues.end() ? "" : answered(found->tool, found->answer);
}

}  // namespace dlkprof::cli
