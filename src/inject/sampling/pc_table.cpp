#include "inject/sampling/pc_table.h"

#include <algorithm>

namespace dlkprof::inject {

std::uint32_t PcFunctions::id_of(std::uint64_t cubin_crc, std::string_view name) {
  const auto [known, is_new] = ids_.try_emplace({cubin_crc, std::string(name)}, static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back({known->second, cubin_crc, known->first.second});
  return known->second;
}

std::vector<capture::PcFunction> PcFunctions::take_new() {
  std::vector<capture::PcFunction> taken(all_.begin() + static_cast<std::ptrdiff_t>(taken_), all_.end());
  taken_ = all_.size();
  return taken;
}

void PcTable::add(std::uint32_t function, const cupti::PcHit& hit) {
  auto& stalls = counts_[{function, hit.offset}];
  for (const auto& [reason, samples] : hit.stalls) {
    const auto known = std::find_if(stalls.begin(), stalls.end(),
                                    [wanted = reason](const capture::PcStall& one) { return one.reason == wanted; });
    if (known != stalls.end()) {
      known->samples += samples;
    } else {
      stalls.push_back({reason, samples});
    }
  }
}

void PcTable::add(const cupti::PcTotals& totals) {
  totals_.samples += totals.samples;
  totals_.foreign += totals.foreign;
  totals_.dropped += totals.dropped;
  totals_.overflows += totals.overflows;
}

capture::PcSamplesRecord PcTable::take(std::uint32_t device, std::uint32_t period_log2) {
  capture::PcSamplesRecord record{.device = device,
                                  .period_log2 = period_log2,
                                  .samples = totals_.samples,
                                  .foreign = totals_.foreign,
                                  .dropped = totals_.dropped,
                                  .overflows = totals_.overflows};
  record.counts.reserve(counts_.size());
  for (auto& [place, stalls] : counts_) record.counts.push_back({place.first, place.second, std::move(stalls)});
  counts_.clear();
  totals_ = {};
  return record;
}

}  // namespace dlkprof::inject
