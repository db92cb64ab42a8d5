// Source lines of sampled instructions. Keeps a copy of the machine code that has line information, as the driver's own is gone
// when a module is unloaded. loaded() may be called by any thread at any time, all else by one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "cupti/cubin.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

class PcSources {
 public:
  explicit PcSources(const cupti::Library& library) : library_(library) {}

  // A module was loaded: on the program's thread, and perhaps within a call of CUPTI's, so that it is only copied.
  void loaded(cupti::Cubin cubin);
  // Throws Error, where the cubin that it is of is not known.
  void sampled(std::uint32_t function, std::uint64_t cubin_crc, std::uint64_t offset);

  // Files and lines of the instructions sampled that were not looked up yet, until the time is used up. `functions` by their id.
  [[nodiscard]] capture::PcNamesRecord find_lines(const std::vector<capture::PcFunction>& functions,
                                                  std::chrono::milliseconds time);
  // Instructions that time did not suffice for.
  [[nodiscard]] std::size_t left() const noexcept { return waiting_.size(); }

 private:
  using Bytes = std::vector<char>;
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // function and offset
  [[nodiscard]] const Bytes* cubin_of(std::uint64_t crc);
  void take_in_loaded();

  const cupti::Library& library_;
  std::mutex mutex_;                       // of the next two
  std::vector<Bytes> loaded_;              // and not taken in yet
  std::size_t bytes_ = 0;                  // of all cubins
  std::map<std::uint64_t, Bytes> cubins_;  // by CRC
  std::set<Place> known_, waiting_;
};

}  // namespace dlkprof::inject
