// How much of a kernel's samples lies in each of its loops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/sass/sass.h"
#include "model/timeline/pc_samples.h"

namespace dlkprof::advise {

// Where an instruction comes from: as CUPTI says, or where it does not the machine code. `known`: null where that is not known.
struct SourcePlace {
  std::string_view file;
  std::uint32_t line = 0;  // from 1; 0: not known
};
[[nodiscard]] SourcePlace source_of(const model::PcSamples& samples, const model::PcInstruction& at,
                                    const model::SassInstruction* known);

// A loop of a function with what was sampled in it, loops within included.
struct SampledLoop {
  std::uint64_t head = 0, last = 0;             // offsets of its first and its last instruction
  std::optional<double> percent;                // of the cycles of its kernel; none: it was not sampled
  std::uint32_t first_line = 0, last_line = 0;  // of the file that most of it is of; 0: not known
};

class SampledLoops {
 public:
  SampledLoops(const model::PcSamples& samples, const model::Sass& sass);
  // The innermost that an instruction (index into PcSamples::instructions) lies in; null where it lies in none, or it is not
  // known.
  [[nodiscard]] const SampledLoop* of(std::uint32_t instruction) const;

 private:
  struct Lines {
    double cycles = 0;
    std::uint32_t first = 0, last = 0;
  };
  struct Tally {
    double cycles = 0;
    std::map<std::string_view, Lines> files;
  };
  // Of each loop of each function.
  using Tallies = std::vector<std::vector<Tally>>;
  [[nodiscard]] Tallies tally(const model::PcSamples& samples, const model::Sass& sass);

  std::vector<std::vector<SampledLoop>> loops_;  // by function, as SassFunction::loops
  std::vector<const SampledLoop*> innermost_;    // of each instruction
};

}  // namespace dlkprof::advise
