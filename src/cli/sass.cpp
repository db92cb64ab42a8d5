#include "cli/sass.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "model/sass/disassembler.h"

namespace dlkprof::cli {

model::Sass sass_for(const std::vector<std::string>& reports, const model::Timeline& timeline) {
  const bool asked = std::find(reports.begin(), reports.end(), "source") != reports.end();
  return asked ? sass_of(timeline) : model::Sass{};
}

model::Sass sass_of(const model::Timeline& timeline) {
  if (timeline.pc_samples.codes.empty()) return {};
  const std::filesystem::path nvdisasm = model::find_nvdisasm();
  if (nvdisasm.empty()) {
    const Error words("source lines are shown without SASS and loops",
                      "nvdisasm was not found on PATH, in a CUDA Toolkit or in Triton",
                      "Install the CUDA Toolkit's nvdisasm, or put the folder of one on PATH.");
    say("dlkprof: {}\n", words.message());
    return {};
  }
  model::Disassembly made = model::disassemble(timeline, nvdisasm);
  for (const capture::NoticeRecord& notice : made.notices) {
    say("dlkprof: {}\n", Error(printable(notice.what), printable(notice.detail), printable(notice.remedy)).message());
  }
  return std::move(made.sass);
}

}  // namespace dlkprof::cli
