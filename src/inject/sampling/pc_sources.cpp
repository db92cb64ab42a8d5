#include "inject/sampling/pc_sources.h"

#include <string>

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// A program compiled with line information has some MB of it; one that is all debug information shall not fill the host.
constexpr std::size_t kMostCubinBytes = std::size_t{256} << 20U;
// A kernel has hundreds to thousands; beyond that a profile by line has told all that it can.
constexpr std::size_t kMostInstructions = 200'000;

}  // namespace

void PcSources::loaded(cupti::Cubin cubin) {
  if (!cupti::has_line_information(cubin)) return;
  const std::lock_guard lock(mutex_);
  if (cubin.size() > kMostCubinBytes - bytes_) return;
  loaded_.emplace_back(cubin.begin(), cubin.end());
  bytes_ += cubin.size();
}

// A program that loads the same module again and again keeps it once.
void PcSources::take_in_loaded() {
  std::vector<Bytes> loaded;
  {
    const std::lock_guard lock(mutex_);
    loaded.swap(loaded_);
  }
  for (Bytes& cubin : loaded) {
    const std::uint64_t crc = cupti::crc_of(library_, cubin);
    const std::size_t size = cubin.size();
    if (cubins_.try_emplace(crc, std::move(cubin)).second) continue;
    const std::lock_guard lock(mutex_);
    bytes_ -= size;
  }
}

const PcSources::Bytes* PcSources::cubin_of(std::uint64_t crc) {
  take_in_loaded();
  const auto found = cubins_.find(crc);
  return found == cubins_.end() ? nullptr : &found->second;
}

void PcSources::sampled(std::uint32_t function, std::uint64_t cubin_crc, std::uint64_t offset) {
  const Place place(function, offset);
  if (known_.contains(place) || known_.size() >= kMostInstructions || cubin_of(cubin_crc) == nullptr) return;
  known_.insert(place);
  waiting_.insert(place);
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
    const auto line = cupti::source_line(library_, *cubin_of(its_own.cubin_crc), its_own.mangled_name, offset);
    if (!line) continue;
    const auto [file, is_new] = files.try_emplace(line->file, static_cast<std::uint32_t>(found.files.size()));
    if (is_new) found.files.push_back(line->file);
    found.lines.push_back({function, offset, file->second, line->line});
  }
  waiting_.erase(waiting_.begin(), place);
  return found;
}

}  // namespace dlkprof::inject
