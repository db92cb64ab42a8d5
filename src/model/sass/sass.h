// Machine code of sampled functions as text, instruction by instruction, with the loops it has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

inline constexpr std::uint32_t kNoLoop = capture::kNoNumber;

struct SassInstruction {
  std::uint64_t offset = 0;      // bytes from the function's start
  std::string text;              // "@!P0 LDG.E R2, desc[UR4][R2.64]": printable
  std::string file;              // of the table of lines of the code; "" where it has none
  std::uint32_t line = 0;        // from 1; 0: not known
  std::uint32_t loop = kNoLoop;  // the innermost that it lies in: index into SassFunction::loops
};

// A natural loop: what is run again by a branch back to its head. Loops with the same head are one.
struct SassLoop {
  std::uint64_t head = 0, last = 0;  // offsets of its first and of its last instruction by address
  std::uint32_t around = kNoLoop;    // the loop that it lies in; its index is smaller
  friend bool operator==(const SassLoop&, const SassLoop&) = default;
};

struct SassFunction {
  std::vector<SassInstruction> instructions;  // by offset
  std::vector<SassLoop> loops;
  // Null where there is none at that offset.
  [[nodiscard]] const SassInstruction* at(std::uint64_t offset) const;
};

struct Sass {
  std::vector<SassFunction> functions;  // by PcSamples::functions; without instructions where its code is not known. May be empty
  // The offsets of instructions in each of the functions, or null.
  [[nodiscard]] const SassFunction* of(std::uint32_t function) const {
    return function < functions.size() && !functions[function].instructions.empty() ? &functions[function] : nullptr;
  }
};

}  // namespace dlkprof::model
