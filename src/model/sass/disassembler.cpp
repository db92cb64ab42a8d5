#include "model/sass/disassembler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/confined_program.h"
#include "base/error.h"
#include "base/text.h"
#include "capture/encoding.h"
#include "cupti/cubin_code.h"
#include "cupti/toolkits.h"
#include "model/sass/sass_loops.h"
#include "model/sass/sass_text.h"

namespace dlkprof::model {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A module takes some 50 ms; one that takes long is damaged, or meant to.
constexpr ProgramLimits kLimits{.time = 20s, .output_bytes = std::size_t{64} << 20U, .memory_bytes = std::size_t{4} << 30U};
constexpr auto kMostTime = 60s;

// --- Where nvdisasm is -------------------------------------------------------------------------------------------------

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): dlkprof never changes the environment
  return value == nullptr ? "" : value;
}

// The files <prefix>/lib/python3.x/<packages>/triton/backends/nvidia/bin/nvdisasm that may be there.
void add_tritons(const fs::path& prefix, std::vector<fs::path>& files) {
  std::error_code error;
  for (const auto& python : fs::directory_iterator(prefix / "lib", error)) {
    if (!python.path().filename().native().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      files.push_back(python.path() / packages / "triton/backends/nvidia/bin/nvdisasm");
  }
}

std::vector<fs::path> places_of_nvdisasm() {
  std::vector<fs::path> files, prefixes;
  for (const std::string& folder : split(variable("PATH"), ':')) {
    if (!folder.starts_with('/')) continue;  // a folder that anybody may fill
    files.push_back(fs::path(folder) / "nvdisasm");
    std::error_code error;
    if (fs::exists(fs::path(folder) / "python3", error)) prefixes.push_back(fs::path(folder).parent_path());
  }
  for (const fs::path& toolkit : cupti::toolkits()) files.push_back(toolkit / "bin/nvdisasm");
  for (const char* environment : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string prefix = variable(environment); prefix.starts_with('/')) prefixes.emplace_back(prefix);
  }
  if (const std::string home = variable("HOME"); home.starts_with('/')) prefixes.push_back(fs::path(home) / ".local");
  for (const fs::path& prefix : prefixes) add_tritons(prefix, files);
  return files;
}

// --- Functions ---------------------------------------------------------------------------------------------------------

std::vector<std::uint64_t> cycles_by_function(const PcSamples& samples) {
  std::vector<std::uint64_t> cycles(samples.functions.size());
  for (const PcStall& stall : samples.stalls) {
    std::uint64_t& sum = cycles[samples.instructions[stall.instruction].function];
    sum = std::min(sum, kMostPcSamples) + std::min(stall.cycles, kMostPcSamples);
  }
  return cycles;
}

// The instructions of a function in its section, with offsets from its own start.
SassFunction function_in(const SassSection& section, const cupti::CodePlace& place) {
  const std::uint64_t end = place.bytes == 0 ? kMostPcSamples : place.offset + std::min(place.bytes, kMostPcSamples);
  SassFunction function;
  for (const SassInstruction& instruction : section.instructions) {
    if (instruction.offset < place.offset || instruction.offset >= end) continue;
    function.instructions.push_back(instruction);
    function.instructions.back().offset -= place.offset;
  }
  std::map<std::string, std::uint64_t> labels;
  for (const auto& [label, offset] : section.labels) {
    if (offset >= place.offset && offset < end) labels.emplace(label, offset - place.offset);
  }
  if (!function.instructions.empty()) find_loops(function, labels);
  return function;
}

class Disassembler {
 public:
  Disassembler(const Timeline& timeline, const fs::path& nvdisasm) : timeline_(timeline), nvdisasm_(nvdisasm) {}
  [[nodiscard]] Disassembly run();

 private:
  void take(const PcCode& code, const std::vector<std::uint32_t>& functions);
  [[nodiscard]] std::string print(std::span<const char> elf, const std::vector<std::uint32_t>& symbols) const;
  void note_failures();

  const Timeline& timeline_;
  const fs::path& nvdisasm_;
  Disassembly made_;
  std::optional<Error> failure_;  // the first
  std::size_t failures_ = 0, late_ = 0;
};

// Without lines, where it does not come to terms with their table.
std::string Disassembler::print(std::span<const char> elf, const std::vector<std::uint32_t>& symbols) const {
  const std::string numbers = fmt::format("{}", fmt::join(symbols, ","));
  try {
    return output_of_confined(nvdisasm_, {"-c", "-g", "-fun", numbers}, elf, kLimits);
  } catch (const Error&) {
    return output_of_confined(nvdisasm_, {"-c", "-fun", numbers}, elf, kLimits);
  }
}

void Disassembler::take(const PcCode& code, const std::vector<std::uint32_t>& functions) {
  const std::vector<char> elf = capture::unpack_code(code.zstd_elf, code.elf_bytes);
  std::vector<std::uint32_t> symbols;
  std::vector<std::pair<std::uint32_t, cupti::CodePlace>> places;
  for (const std::uint32_t function : functions) {
    const Kernel& kernel = timeline_.kernels[timeline_.pc_samples.functions[function].kernel];
    const auto place = cupti::find_code(elf, kernel.mangled);
    if (!place) continue;
    places.emplace_back(function, *place);
    symbols.push_back(place->symbol);
  }
  if (places.empty()) throw Error("the machine code of a kernel cannot be read", "the kernel is not in it", "");
  const auto sections = read_sass(print(elf, symbols));
  for (const auto& [function, place] : places) {
    const auto section = sections.find(std::string(place.section_name));
    if (section != sections.end()) made_.sass.functions[function] = function_in(section->second, place);
  }
}

Disassembly Disassembler::run() {
  const PcSamples& samples = timeline_.pc_samples;
  made_.sass.functions.resize(samples.functions.size());
  const std::vector<std::uint64_t> cycles = cycles_by_function(samples);
  std::vector<std::vector<std::uint32_t>> functions(samples.codes.size());
  std::vector<std::uint64_t> weight(samples.codes.size());
  for (std::uint32_t i = 0; i < samples.functions.size(); ++i) {
    const std::uint32_t code = samples.functions[i].code;
    if (code == kNone) continue;
    functions[code].push_back(i);
    weight[code] = std::min(weight[code], kMostPcSamples) + std::min(cycles[i], kMostPcSamples);
  }
  std::vector<std::size_t> order(samples.codes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&weight](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });
  const auto until = Clock::now() + kMostTime;
  for (const std::size_t code : order) {
    if (Clock::now() > until) {
      late_ += functions[code].size();
      continue;
    }
    try {
      take(samples.codes[code], functions[code]);
    } catch (const Error& error) {
      failures_ += functions[code].size();
      if (!failure_) failure_ = error;
    }
  }
  note_failures();
  return std::move(made_);
}

void Disassembler::note_failures() {
  if (failure_) {
    made_.notices.push_back({capture::Severity::warning, fmt::format("There is no SASS of {} of the kernels sampled", failures_),
                             fmt::format("{}{}{}", failure_->what(), failure_->detail().empty() ? "" : ": ", failure_->detail()),
                             "Use an nvdisasm as new as the compiler of the kernels: put its folder first on PATH."});
  }
  if (late_ > 0) {
    made_.notices.push_back({capture::Severity::warning, fmt::format("There is no SASS of {} of the kernels sampled", late_),
                             "nvdisasm took too long", ""});
  }
}

}  // namespace

fs::path find_nvdisasm() {
  for (const fs::path& file : places_of_nvdisasm()) {
    std::error_code error;
    if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

Disassembly disassemble(const Timeline& timeline, const fs::path& nvdisasm) { return Disassembler(timeline, nvdisasm).run(); }

}  // namespace dlkprof::model
