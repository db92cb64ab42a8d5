// What the command line asks of the injected library. Travels in one environment variable as JSON, so that
// child processes inherit it, and is kept in the capture's first record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::capture {

inline constexpr const char* kOptionsVariable = "DLKPROF_OPTIONS";

// One thing to measure: the first of `names` that the chip offers is taken.
struct MetricRequest {
  std::vector<std::string> names;
  friend bool operator==(const MetricRequest&, const MetricRequest&) = default;
};

enum class Collect : std::uint8_t { none, kernel, iteration, automatic, sample, source };  // --replay-mode; --section source

// Selecting, with ncu's meanings (Nsight Compute CLI manual, "Filter").
struct Selection {
  std::string kernel_id;                      // context:stream:[regex:]name:invocation
  std::string kernel_name;                    // [regex:]name
  std::string kernel_name_base = "function";  // function | demangled | mangled
  std::uint64_t launch_skip = 0;
  std::optional<std::uint64_t> launch_count;
  std::uint64_t launch_skip_before_match = 0;
  std::string filter_mode = "global";  // global | per-gpu | per-launch-config
  std::vector<std::uint32_t> devices;  // empty: all
  std::vector<std::string> nvtx_include, nvtx_exclude;
  [[nodiscard]] bool by_ranges() const noexcept { return !nvtx_include.empty() || !nvtx_exclude.empty(); }
  friend bool operator==(const Selection&, const Selection&) = default;
};

struct ProfileOptions {
  Selection selection;
  Collect collect = Collect::automatic;
  CacheControl cache_control = CacheControl::none;
  std::optional<std::uint64_t> samples = 1;  // occurrences measured of each launch key; none: all
  bool keep_counters = false;
  double max_overhead_seconds = 120;         // of iteration replay: spent in and around windows; 0: no limit
  std::uint64_t max_memory_mb = 300;         // of iteration replay: host memory that it may add to the program
  std::uint64_t sampling_interval_ns = 0;    // of replay mode sample; 0: the shortest that can be kept up with
  std::optional<std::uint32_t> pc_sampling;  // the period, of 2^n cycles; none: there is no PC sampling
  bool timeline = true;                      // NVTX ranges, CUDA calls and what GPUs did, as events
  std::uint64_t iterations = 0;              // once all is measured, so many on the timeline before detaching; 0: to the end
  bool fast_range_texts = false;             // PyTorch takes the texts of its ranges from libdlkprof_pytorch.so
  bool in_bursts = false;                    // replay mode sample: of calls and GPUs only while samples are taken
  std::vector<MetricRequest> metrics;
  std::vector<MetricRequest> first_metrics;  // collected before them in windows, if they take one pass and `metrics` more
  std::uint64_t max_capture_mb = 2000;       // a capture ends there, in good order
  std::string output_directory;              // absolute
  std::string base_name = "dlkprof";
  std::string cupti_path;             // the libcupti to open where the process has none; may be empty
  bool all_processes = true;          // --target-processes all | application-only
  std::string ranks;                  // as capture/ranks.h takes them; empty: all
  std::uint32_t application_pid = 0;  // the program that dlkprof started
  bool profile_from_start = true;
  double delay_seconds = 0;
  double duration_seconds = 0;  // 0: to the end
  bool quiet = false;           // print no warnings
  // Of the command line of the program and of how its ops are to be folded: by it the files of a run are known again. May be
  // empty.
  std::string fingerprint;

  [[nodiscard]] std::size_t max_memory_bytes() const noexcept { return max_memory_mb * 1'000'000; }
  [[nodiscard]] std::uint64_t max_capture_bytes() const noexcept { return max_capture_mb * 1'000'000; }
  friend bool operator==(const ProfileOptions&, const ProfileOptions&) = default;
};

// Throws Error where a string is not valid UTF-8, which JSON cannot carry.
[[nodiscard]] std::string to_json(const ProfileOptions& options);
// Throws Error on text that is not ours. Unknown names are ignored, missing ones keep their defaults.
[[nodiscard]] ProfileOptions options_from_json(const std::string& text);

}  // namespace dlkprof::capture
