#include "inject/sampling/pc_sources.h"

#include <string>

#include "base/error.h"
#include "capture/encoding.h"
#include "cupti/cubin_code.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// A program compiled with line information has some MB of it; one that is all debug information shall not fill the host.
constexpr std::size_t kMostCubinBytes = std::size_t{256} << 20U;
// Modules without it are those of libraries, some MB each: as loaded between two looks of our thread, and then packed.
constexpr std::size_t kMostPlainBytes = std::size_t{96} << 20U, kMostPackedBytes = std::size_t{64} << 20U;
// In the capture, packed.
constexpr std::size_t kMostCodeInCapture = std::size_t{32} << 20U;
// A kernel has hundreds to thousands; beyond that a profile by line has told all that it can.
constexpr std::size_t kMostInstructions = 200'000;

}  // namespace

void PcSources::loaded(cupti::Cubin cubin) {
  const bool has_lines = cupti::has_line_information(cubin);
  const std::lock_guard lock(mutex_);
  std::size_t& bytes = has_lines ? bytes_ : plain_bytes_;
  const std::size_t most = has_lines ? kMostCubinBytes : kMostPlainBytes;
  if (cubin.size() > most - bytes || (!has_lines && cubin.size() > capture::kMostCodeBytes)) {
    ++modules_left_out_;
    return;
  }
  loaded_.emplace_back(cubin.begin(), cubin.end());
  bytes += cubin.size();
}

void PcSources::take_in_loaded() {
  std::vector<Bytes> loaded;
  {
    const std::lock_guard lock(mutex_);
    loaded.swap(loaded_);
    plain_bytes_ = 0;
  }
  for (Bytes& cubin : loaded) take_in(std::move(cubin));
}

// What CUPTI does not take for a cubin no sample names.
std::optional<std::uint64_t> PcSources::crc_of(const Bytes& cubin) {
  try {
    return cupti::crc_of(library_, cubin);
  } catch (const Error&) {
    ++modules_left_out_;
    return std::nullopt;
  }
}

// A program that loads the same module again and again keeps it once.
void PcSources::take_in(Bytes cubin) {
  const bool has_lines = cupti::has_line_information(cubin);
  const auto crc = crc_of(cubin);
  const auto [known, is_new] = crc ? modules_.try_emplace(*crc) : std::pair(modules_.end(), false);
  if (!is_new && has_lines) {
    const std::lock_guard lock(mutex_);
    bytes_ -= cubin.size();
  }
  if (!is_new) return;
  Module& module = known->second;
  module.bytes = cubin.size();
  if (has_lines) {
    module.cubin = std::move(cubin);
  } else if (!takes_code_ || !pack(std::move(cubin), module)) {
    modules_.erase(known);
  }
}

bool PcSources::pack(Bytes cubin, Module& module) {
  module.packed = capture::pack_code(cubin);
  module.packed.shrink_to_fit();
  if (module.packed.size() > kMostPackedBytes - packed_bytes_) {
    ++modules_left_out_;
    return false;
  }
  packed_bytes_ += module.packed.size();
  return true;
}

const PcSources::Module* PcSources::module_of(std::uint64_t crc) {
  take_in_loaded();
  const auto found = modules_.find(crc);
  return found == modules_.end() ? nullptr : &found->second;
}

void PcSources::sampled(std::uint32_t function, std::uint64_t cubin_crc, std::uint64_t offset) {
  const Place place(function, offset);
  if (known_.contains(place) || known_.size() >= kMostInstructions) return;
  const Module* module = module_of(cubin_crc);
  if (module == nullptr) return;
  known_.insert(place);
  if (!module->cubin.empty()) waiting_.insert(place);
  if (takes_code_ && seen_.insert(function).second) without_code_[cubin_crc].push_back(function);
}

// In the order of functions, as CUPTI keeps the cubin that it was asked about last: the first line of one takes it milliseconds,
// all others less than a microsecond (measured).
capture::PcNamesRecord PcSources::find_lines(const std::vector<capture::PcFunction>& functions, std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  capture::PcNamesRecord found;
  std::map<std::string, std::uint32_t> files;
  auto place = waiting_.begin();
  for (; place != waiting_.end() && Clock::now() < until; ++place) {
    const auto& [function, offset] = *place;
    const capture::PcFunction& its_own = functions.at(function);
    const auto line = cupti::source_line(library_, module_of(its_own.cubin_crc)->cubin, its_own.mangled_name, offset);
    if (!line) continue;
    const auto [file, is_new] = files.try_emplace(line->file, static_cast<std::uint32_t>(found.files.size()));
    if (is_new) found.files.push_back(line->file);
    found.lines.push_back({function, offset, file->second, line->line});
  }
  waiting_.erase(waiting_.begin(), place);
  return found;
}

std::vector<capture::PcCodeRecord> PcSources::take_code(const std::vector<capture::PcFunction>& functions,
                                                        std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  std::vector<capture::PcCodeRecord> records;
  while (!without_code_.empty() && Clock::now() < until) {
    const auto next = without_code_.extract(without_code_.begin());
    cut(next.key(), next.mapped(), functions, records);
  }
  return records;
}

void PcSources::cut(std::uint64_t crc, const std::vector<std::uint32_t>& ids, const std::vector<capture::PcFunction>& functions,
                    std::vector<capture::PcCodeRecord>& records) {
  const Module& module = *module_of(crc);
  std::vector<std::string> names;
  for (const std::uint32_t id : ids) names.push_back(functions.at(id).mangled_name);
  const Bytes unpacked = module.cubin.empty() ? capture::unpack_code(module.packed, module.bytes) : Bytes{};
  const Bytes elf = cupti::cut_out(module.cubin.empty() ? unpacked : module.cubin, names, capture::kMostCodeBytes);
  std::vector<std::uint8_t> packed = elf.empty() ? std::vector<std::uint8_t>{} : capture::pack_code(elf);
  if (packed.empty() || packed.size() > kMostCodeInCapture - code_bytes_) {
    if (!elf.empty()) ++modules_left_out_;
    return;
  }
  code_bytes_ += packed.size();
  functions_with_code_ += ids.size();
  records.push_back({ids, elf.size(), std::move(packed)});
}

void PcSources::forget_code() {
  takes_code_ = false;
  without_code_.clear();
  for (auto& [crc, module] : modules_) module.packed = {};
}

}  // namespace dlkprof::inject
