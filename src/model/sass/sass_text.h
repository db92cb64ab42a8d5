// What nvdisasm prints, read as hostile text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/sass/sass.h"

namespace dlkprof::model {

// The code of a section as nvdisasm -c -g prints it. Offsets are from the start of the section.
struct SassSection {
  std::vector<SassInstruction> instructions;    // in the order of their offsets
  std::map<std::string, std::uint64_t> labels;  // offsets of what they stand before
};

// By the names of the sections: ".text.my_kernel". Lines that are not understood are skipped, instructions out of order left out.
[[nodiscard]] std::map<std::string, SassSection> read_sass(std::string_view text);

}  // namespace dlkprof::model
