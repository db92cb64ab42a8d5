// What is known of the instructions of kernels in the captures of a run: where PC sampling saw warps and what they waited for
// there, and how often each ran in the launches whose instructions were counted. Indices, not pointers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dlkprof/capture_format.h"
#include "model/timeline/notice_counts.h"

namespace dlkprof::model {

class KernelTable;

// An ELF file with the machine code of functions, packed as in captures, and not looked at.
struct PcCode {
  std::uint64_t elf_bytes = 0;  // before compression
  std::vector<std::uint8_t> zstd_elf;
  friend bool operator==(const PcCode&, const PcCode&) = default;
};

// A kernel function in one piece of machine code: a program may hold several of the same name.
struct PcFunction {
  std::uint32_t kernel = 0;  // index into Timeline::kernels
  std::uint64_t cubin_crc = 0;
  std::uint32_t code = capture::kNoNumber;  // index into PcSamples::codes; kNoNumber: not kept
  friend bool operator==(const PcFunction&, const PcFunction&) = default;
};

struct PcInstruction {
  std::uint32_t function = 0;  // index into PcSamples::functions
  std::uint64_t offset = 0;    // bytes from the function's start
  std::uint32_t file = 0;      // index into PcSamples::files; 0: not known
  std::uint32_t line = 0;      // from 1; 0: not known
  friend bool operator==(const PcInstruction&, const PcInstruction&) = default;
};

// Samples of one reason at one instruction. Each stands for the cycles of its period, which may have changed in between: shares
// are of cycles.
struct PcStall {
  std::uint32_t instruction = 0;  // index into PcSamples::instructions
  std::uint32_t reason = 0;       // index into PcSamples::reasons
  std::uint64_t samples = 0, cycles = 0;
  friend bool operator==(const PcStall&, const PcStall&) = default;
};

// A count of one instruction in the launch of a configuration whose instructions were counted.
struct SassCount {
  std::uint32_t instruction = 0;  // index into PcSamples::instructions
  std::uint32_t config = 0;       // index into Timeline::configs
  std::uint32_t metric = 0;       // index into PcSamples::sass_metrics
  std::uint64_t value = 0;
  friend bool operator==(const SassCount&, const SassCount&) = default;
};

// All samples of a GPU in a process: see capture::PcSamplesRecord.
struct PcTotals {
  std::uint32_t process = 0;                          // index into Timeline::processes
  std::uint32_t device = 0;                           // CUDA ordinal in that process
  std::uint32_t shortest_log2 = 0, longest_log2 = 0;  // the period, of 2^n cycles
  std::uint64_t samples = 0, foreign = 0, dropped = 0, overflows = 0;
  friend bool operator==(const PcTotals&, const PcTotals&) = default;
};

// Of 2^n cycles.
[[nodiscard]] bool is_pc_period(std::uint32_t period_log2);

// Adds up: numbers stay below kMostPcSamples. `is_first`: sets the period, which is otherwise widened. False, and nothing added,
// where the record's period is impossible.
[[nodiscard]] bool add_to(PcTotals& totals, const capture::PcSamplesRecord& record, bool is_first);

struct PcSamples {
  std::vector<std::string> reasons;  // CUPTI's names, valid UTF-8
  std::vector<PcCode> codes;
  std::vector<PcFunction> functions;        // each once, over all processes
  std::vector<std::string> files;           // [0] is empty; valid UTF-8
  std::vector<PcInstruction> instructions;  // by function and offset
  std::vector<PcStall> stalls;              // by instruction and reason
  std::vector<PcTotals> totals;             // by process and device
  std::vector<std::string> sass_metrics;    // CUPTI's names, valid UTF-8
  std::vector<SassCount> counts;            // by instruction, configuration and metric
  [[nodiscard]] bool empty() const noexcept { return totals.empty(); }
};

// Numbers stay below this, which every database can hold.
inline constexpr std::uint64_t kMostPcSamples = std::uint64_t{1} << 62U;

// Puts the records of captures together, one capture after another. What they say is hostile: what does not fit together is left
// out and counted.
class PcSamplesFold {
 public:
  PcSamplesFold();
  // Numbers are the capture's own.
  void begin_capture(std::uint32_t process);
  void add(capture::PcNamesRecord&& record, KernelTable& kernels, NoticeCounts& notices);
  void add(const capture::PcSamplesRecord& record, NoticeCounts& notices);
  void add(capture::PcCodeRecord&& record, NoticeCounts& notices);
  // `config`: index of the launch's, which has the counts of the launch that comes first.
  void add(capture::SassCountsRecord&& record, std::uint32_t config, NoticeCounts& notices);
  [[nodiscard]] PcSamples finish() &&;

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // function and offset
  struct Line {
    std::uint32_t file = 0, line = 0;
  };
  struct Count {
    std::uint64_t samples = 0, cycles = 0;
  };
  // False where something of it is not known.
  [[nodiscard]] bool add_count(const capture::PcCount& count, std::uint32_t period_log2);
  [[nodiscard]] bool add_count(const capture::SassCount& count, std::uint32_t config, const std::vector<std::uint32_t>& metrics);
  [[nodiscard]] bool add_line(const capture::PcLine& line, const std::vector<std::uint32_t>& files);

  PcSamples samples_;
  std::uint32_t process_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> its_reasons_, its_functions_;  // of the capture: number -> index
  std::map<std::string, std::uint32_t> reasons_, files_, metrics_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> functions_;  // by kernel and CRC
  std::map<Place, Line> lines_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, Count> counts_;  // by function, offset and reason
  std::set<std::uint32_t> counted_;                                                  // configurations
  std::map<std::pair<std::uint32_t, std::uint32_t>, PcTotals> totals_;               // by process and device
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t>, std::uint64_t>
      sass_;  // by function, offset, configuration and metric
};

}  // namespace dlkprof::model
