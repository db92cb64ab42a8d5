// Machine code and its text are hostile input: whatever the bytes, cutting functions out of a module, reading what nvdisasm
// prints and finding loops must neither crash nor hang. The input is a module and a text at once; what is cut out is smaller than
// it may be and holds what it was cut out for.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cupti/cubin_code.h"
#include "model/sass/sass_loops.h"
#include "model/sass/sass_text.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMostCutOut = 100'000;
const std::vector<std::string> kFunctions{"chase", "_Z5tiledIfEvPKT_S2_PS0_i", ""};

void require(bool holds) {
  if (!holds) std::abort();
}

void cut(cupti::Cubin cubin) {
  const std::vector<char> part = cupti::cut_out(cubin, kFunctions, kMostCutOut);
  require(part.size() <= kMostCutOut);
  const auto is_there = [](cupti::Cubin code) {
    return std::any_of(kFunctions.begin(), kFunctions.end(),
                       [&](const std::string& name) { return cupti::find_code(code, name); });
  };
  require(part.empty() || is_there(cubin));
}

void read(std::string_view text) {
  for (const auto& [name, section] : model::read_sass(text)) {
    model::SassFunction function{.instructions = section.instructions, .loops = {}};
    model::find_loops(function, section.labels);
    for (const model::SassInstruction& one : function.instructions) {
      require(printable(one.text, 1000) == one.text && valid_utf8(one.file) == one.file);
      require(one.loop == model::kNoLoop || one.loop < function.loops.size());
      require(function.at(one.offset) == &one);
    }
    for (std::uint32_t loop = 0; loop < function.loops.size(); ++loop) {
      require(function.loops[loop].around == model::kNoLoop || function.loops[loop].around < loop);
      require(function.loops[loop].head <= function.loops[loop].last);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const char*>(data);
  cut({bytes, size});
  read({bytes, size});
  return 0;
}
