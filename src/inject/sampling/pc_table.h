// What PC sampling found on one GPU since it was last taken, added up by instruction. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cupti/pc_sampler.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

// Kernel functions that were sampled, by machine code and name: the same for all GPUs of the process.
class PcFunctions {
 public:
  [[nodiscard]] std::uint32_t id_of(std::uint64_t cubin_crc, std::string_view name);
  // Those that came since the last call.
  [[nodiscard]] std::vector<capture::PcFunction> take_new();
  [[nodiscard]] const std::vector<capture::PcFunction>& all() const noexcept { return all_; }  // by id, from 0

 private:
  std::map<std::pair<std::uint64_t, std::string>, std::uint32_t, std::less<>> ids_;
  std::vector<capture::PcFunction> all_;
  std::size_t taken_ = 0;
};

class PcTable {
 public:
  void add(std::uint32_t function, const cupti::PcHit& hit);
  void add(const cupti::PcTotals& totals);
  [[nodiscard]] bool empty() const noexcept { return totals_.samples == 0 && totals_.overflows == 0; }

  [[nodiscard]] std::size_t instructions() const noexcept { return counts_.size(); }
  // Empties it. Instructions come in the order of their functions and offsets.
  [[nodiscard]] capture::PcSamplesRecord take(std::uint32_t device, std::uint32_t period_log2);

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<capture::PcStall>> counts_;  // by function and offset
  cupti::PcTotals totals_;
};

}  // namespace dlkprof::inject
