// Source lines and machine code of sampled instructions. Keeps a copy of the modules that are loaded, as the driver's own is gone
// when a module is unloaded. loaded() may be called by any thread at any time, all else by one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
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
  void sampled(std::uint32_t function, std::uint64_t cubin_crc, std::uint64_t offset);

  // Files and lines of the instructions sampled that were not looked up yet, until the time is used up. `functions` by their id.
  [[nodiscard]] capture::PcNamesRecord find_lines(const std::vector<capture::PcFunction>& functions,
                                                  std::chrono::milliseconds time);
  // Instructions that time did not suffice for.
  [[nodiscard]] std::size_t left() const noexcept { return waiting_.size(); }

  // Machine code of the functions sampled whose code was not taken yet, a record for each module, until the time is used up.
  // Throws Error where some cannot be packed.
  [[nodiscard]] std::vector<capture::PcCodeRecord> take_code(const std::vector<capture::PcFunction>& functions,
                                                             std::chrono::milliseconds time);
  // Takes no code from here on.
  void forget_code();
  // Modules whose code is not kept, as it is too much; functions whose code was taken.
  [[nodiscard]] std::size_t modules_left_out() const noexcept { return modules_left_out_; }
  [[nodiscard]] std::size_t functions_with_code() const noexcept { return functions_with_code_; }

 private:
  using Bytes = std::vector<char>;
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // function and offset
  struct Module {
    Bytes cubin;                       // of one with line information, which is asked for lines again and again
    std::vector<std::uint8_t> packed;  // of any other
    std::size_t bytes = 0;             // before packing
  };
  [[nodiscard]] const Module* module_of(std::uint64_t crc);
  void take_in_loaded();
  void take_in(Bytes cubin);
  [[nodiscard]] std::optional<std::uint64_t> crc_of(const Bytes& cubin);
  [[nodiscard]] bool pack(Bytes cubin, Module& module);
  void cut(std::uint64_t crc, const std::vector<std::uint32_t>& ids, const std::vector<capture::PcFunction>& functions,
           std::vector<capture::PcCodeRecord>& records);

  const cupti::Library& library_;
  std::mutex mutex_;                         // of the next three
  std::vector<Bytes> loaded_;                // and not taken in yet
  std::size_t bytes_ = 0;                    // of all cubins with line information
  std::size_t plain_bytes_ = 0;              // of those without in `loaded_`
  std::map<std::uint64_t, Module> modules_;  // by CRC
  std::set<Place> known_, waiting_;

  std::atomic<std::size_t> modules_left_out_{0};
  std::size_t functions_with_code_ = 0;
  std::size_t packed_bytes_ = 0, code_bytes_ = 0;  // of modules that are held; of all that was taken
  bool takes_code_ = true;
  std::set<std::uint32_t> seen_;                                      // functions
  std::map<std::uint64_t, std::vector<std::uint32_t>> without_code_;  // functions by the CRC of their module
};

}  // namespace dlkprof::inject
