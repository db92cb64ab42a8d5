#include "model/sass/disassembler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
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

// A module takes some 0.4 s, of which nvdisasm 13.0 needs nearly all to begin with, and 83 MB; one that takes much is damaged, or
// meant to. All 78 modules of a Flax CNN are 8.2 MB of text.
constexpr ProgramLimits kLimits{.time = 20s, .output_bytes = std::size_t{32} << 20U, .memory_bytes = std::size_t{1} << 30U};
constexpr auto kMostTime = 60s;
constexpr std::size_t kMostAtOnce = 8;  // programs

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
  // A module whose functions were sampled.
  struct Module {
    std::vector<std::uint32_t> functions{};
    std::uint64_t cycles = 0;
    bool late = false;  // there was no time for it
    std::optional<Error> failure{};
  };
  void find_modules();
  void take(std::size_t code, Clock::time_point until);
  void print_functions(const PcCode& code, const std::vector<std::uint32_t>& functions);
  [[nodiscard]] std::string print(std::span<const char> elf, const std::vector<std::uint32_t>& symbols) const;
  void note_failures();

  const Timeline& timeline_;
  const fs::path& nvdisasm_;
  std::vector<Module> modules_;  // by code
  Disassembly made_;
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

void Disassembler::print_functions(const PcCode& code, const std::vector<std::uint32_t>& functions) {
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

void Disassembler::find_modules() {
  const PcSamples& samples = timeline_.pc_samples;
  const std::vector<std::uint64_t> cycles = cycles_by_function(samples);
  modules_.resize(samples.codes.size());
  for (std::uint32_t i = 0; i < samples.functions.size(); ++i) {
    const std::uint32_t code = samples.functions[i].code;
    if (code == kNone) continue;
    Module& module = modules_[code];
    module.functions.push_back(i);
    module.cycles = std::min(module.cycles, kMostPcSamples) + std::min(cycles[i], kMostPcSamples);
  }
}

// Of several modules at once: each has functions of its own.
void Disassembler::take(std::size_t code, Clock::time_point until) {
  Module& module = modules_[code];
  module.late = Clock::now() > until;
  if (module.late) return;
  try {
    print_functions(timeline_.pc_samples.codes[code], module.functions);
  } catch (const Error& error) {
    module.failure = error;
  }
}

Disassembly Disassembler::run() {
  made_.sass.functions.resize(timeline_.pc_samples.functions.size());
  find_modules();
  std::vector<std::size_t> order(modules_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](auto a, auto b) { return modules_[a].cycles > modules_[b].cycles; });
  const auto until = Clock::now() + kMostTime;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < order.size(); i = next++) take(order[i], until);
  };
  const std::size_t at_once = std::min({kMostAtOnce, order.size(), std::size_t{std::thread::hardware_concurrency()}});
  std::vector<std::future<void>> others;
  while (others.size() + 1 < at_once) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  note_failures();
  return std::move(made_);
}

void Disassembler::note_failures() {
  std::size_t failures = 0, late = 0;
  std::optional<Error> first;
  for (const Module& module : modules_) {
    if (module.late) late += module.functions.size();
    if (!module.failure) continue;
    failures += module.functions.size();
    if (!first) first = module.failure;
  }
  const auto note = [this](std::size_t kernels, std::string detail, std::string remedy) {
    made_.notices.push_back({capture::Severity::warning, fmt::format("There is no SASS of {} of the kernels sampled", kernels),
                             std::move(detail), std::move(remedy)});
  };
  if (first) {
    note(failures, fmt::format("{}{}{}", first->what(), first->detail().empty() ? "" : ": ", first->detail()),
         "Use an nvdisasm as new as the compiler of the kernels: put its folder first on PATH.");
  }
  if (late > 0) note(late, "nvdisasm took too long", "");
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
