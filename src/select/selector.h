// Which launches to measure: ncu's filters (Nsight Compute CLI manual, "Filter").
//
// Option values are cut as kernel_id.h says, and what shares a counter is in counter_key.h. A launch is asked in
// this order: device, names, context and stream, NVTX ranges; then its invocation is counted; then --launch-skip-before-match
// (the first launches of all, whatever they match), --launch-skip and --launch-count have their say. A launch
// that one of them turns away does not reach the next.
//
// A Selector is compiled once, from options that were checked before the program started; in the program it is
// asked once a launch. What depends on a kernel function's names alone is decided once a function and cached by
// the caller as NameMatch; what is left a launch is integer comparison and one hash look-up for its counters.
// Not thread-safe: the caller holds a lock, so that counts follow the order of the launches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "capture/options.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::select {

// The three forms of a kernel's name, as --kernel-name-base names them.
struct KernelNames {
  std::string function, demangled, mangled;
};
[[nodiscard]] KernelNames kernel_names(const std::string& mangled);

// What a function's names say.
enum class NameMatch : std::uint8_t {
  no,
  near,  // only another form of the name matches: `gemm` stands in the template arguments; never selected
  yes,
};

// What a launch is known by besides its names. Names given through NVTX may be empty.
struct LaunchIdentity {
  capture::LaunchKey key;
  std::uint32_t name_id = 0;  // Selector::name_id of its function
  std::uint32_t context_id = 0, stream_id = 0;
  std::string context_name, stream_name;
  bool in_ranges = true;  // that --nvtx-include and --nvtx-exclude ask for (NvtxFilter)
};

enum class Verdict : std::uint8_t {
  unmatched,  // a filter by name, identity, device or invocation leaves it out
  skipped,    // matched, but within --launch-skip or --launch-skip-before-match
  selected,
  exhausted,  // matched, but --launch-count is used up
};

class Selector {
 public:
  // Throws UsageError that shows the option, the pattern and a caret under the place.
  [[nodiscard]] static Selector compile(const capture::Selection& selection);

  Selector(Selector&&) noexcept;
  Selector& operator=(Selector&&) noexcept;
  ~Selector();

  [[nodiscard]] NameMatch match_names(const KernelNames& names) const;
  // Functions that --kernel-name-base calls alike have one id, from 1.
  [[nodiscard]] std::uint32_t name_id(const KernelNames& names);
  // Advances the counters behind --launch-skip, --launch-count and invocation-nr.
  [[nodiscard]] Verdict decide(NameMatch names, const LaunchIdentity& launch);
  // No later launch can be selected any more: all may be detached.
  [[nodiscard]] bool exhausted() const;
  // Whether all launches of a function whose name matches are selected, whatever else they are, on the devices that are taken.
  [[nodiscard]] bool goes_by_name_and_device() const;
  // Thread-safe, as it advances nothing.
  [[nodiscard]] bool takes_device(std::uint32_t device) const;
  // Whether context or stream fields are patterns, which also match names given through NVTX.
  [[nodiscard]] bool needs_resource_names() const;
  // A pattern took too much effort on some name or number, which was then taken not to match.
  [[nodiscard]] bool limit_exceeded() const;

 private:
  struct State;
  explicit Selector(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dlkprof::select
