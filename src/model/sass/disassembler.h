// Turns the machine code that a run keeps into text, by nvdisasm, which the CUDA Toolkit and Triton bring along.
//
// The code comes from a file, and nvdisasm trusts what it reads: it runs confined (base/confined_program.h), and what it prints
// is hostile text.
#pragma once

#include <filesystem>
#include <vector>

#include "model/sass/sass.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// On PATH, in a CUDA Toolkit, or in the Triton of a Python on PATH, of the environment that is active, or of the user. Empty
// where it is not found.
[[nodiscard]] std::filesystem::path find_nvdisasm();

struct Disassembly {
  Sass sass;
  std::vector<capture::NoticeRecord> notices;  // why some or all of it is missing
};
// Of all sampled functions whose code was kept, those with most samples first, for about a minute at most.
[[nodiscard]] Disassembly disassemble(const Timeline& timeline, const std::filesystem::path& nvdisasm);

}  // namespace dlkprof::model
