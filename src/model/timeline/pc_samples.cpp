#include "model/timeline/pc_samples.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cupti/pc_period.h"
#include "model/timeline/kernel_table.h"

namespace dlkprof::model {
namespace {

// Sums of hostile numbers stay at the largest.
void sum_up(std::uint64_t& sum, std::uint64_t more) { sum = more > kMostPcSamples - sum ? kMostPcSamples : sum + more; }

std::uint64_t cycles_of(std::uint64_t samples, std::uint32_t period_log2) {
  return samples > kMostPcSamples >> period_log2 ? kMostPcSamples : samples << period_log2;
}

// The index of a text in `all`, which gets it where it is new.
std::uint32_t index_of(std::string text, std::map<std::string, std::uint32_t>& indices, std::vector<std::string>& all) {
  const auto [known, is_new] = indices.try_emplace(valid_utf8(text), static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(known->first);
  return known->second;
}

}  // namespace

bool is_pc_period(std::uint32_t period_log2) {
  return period_log2 >= cupti::kLeastPcPeriod && period_log2 <= cupti::kMostPcPeriod;
}

bool add_to(PcTotals& totals, const capture::PcSamplesRecord& record, bool is_first) {
  if (!is_pc_period(record.period_log2)) return false;
  totals.shortest_log2 = is_first ? record.period_log2 : std::min(totals.shortest_log2, record.period_log2);
  totals.longest_log2 = is_first ? record.period_log2 : std::max(totals.longest_log2, record.period_log2);
  sum_up(totals.samples, record.samples);
  sum_up(totals.foreign, record.foreign);
  sum_up(totals.dropped, record.dropped);
  sum_up(totals.overflows, record.overflows);
  return true;
}

PcSamplesFold::PcSamplesFold() {
  samples_.files.emplace_back();
  files_.emplace("", 0);
}

void PcSamplesFold::begin_capture(std::uint32_t process) {
  process_ = process;
  its_reasons_.clear();
  its_functions_.clear();
}

void PcSamplesFold::add(capture::PcNamesRecord&& record, KernelTable& kernels, NoticeCounts& notices) {
  for (capture::PcReason& reason : record.reasons) {
    its_reasons_.emplace(reason.id, index_of(std::move(reason.name), reasons_, samples_.reasons));
  }
  for (const capture::PcFunction& function : record.functions) {
    const PcFunction described{kernels.kernel(valid_utf8(function.mangled_name)), function.cubin_crc};
    const auto [known, is_new] =
        functions_.try_emplace({described.kernel, described.cubin_crc}, static_cast<std::uint32_t>(samples_.functions.size()));
    if (is_new) samples_.functions.push_back(described);
    its_functions_.emplace(function.id, known->second);
  }
  std::vector<std::uint32_t> files;
  for (std::string& file : record.files) files.push_back(index_of(std::move(file), files_, samples_.files));
  const auto unknown = std::count_if(record.lines.begin(), record.lines.end(),
                                     [&](const capture::PcLine& line) { return !add_line(line, files); });
  notices.count("Source lines of PC sampling that do not fit together left out", static_cast<std::uint64_t>(unknown));
}

bool PcSamplesFold::add_line(const capture::PcLine& line, const std::vector<std::uint32_t>& files) {
  const auto function = its_functions_.find(line.function);
  if (function == its_functions_.end() || line.file >= files.size()) return false;
  lines_.try_emplace({function->second, line.offset}, Line{files[line.file], line.line});
  return true;
}

void PcSamplesFold::add(const capture::PcSamplesRecord& record, NoticeCounts& notices) {
  const auto [known, is_new] = totals_.try_emplace({process_, record.device}, PcTotals{process_, record.device});
  if (!add_to(known->second, record, is_new)) {
    if (is_new) totals_.erase(known);
    return notices.count("Samples of PC sampling of an impossible period left out");
  }
  const auto unknown = std::count_if(record.counts.begin(), record.counts.end(),
                                     [&](const capture::PcCount& count) { return !add_count(count, record.period_log2); });
  notices.count("Samples of PC sampling that do not fit together left out", static_cast<std::uint64_t>(unknown));
}

void PcSamplesFold::add(capture::PcCodeRecord&& record, NoticeCounts& notices) {
  const auto code = static_cast<std::uint32_t>(samples_.codes.size());
  bool fits = record.elf_bytes <= capture::kMostCodeBytes, is_new = false;
  for (const std::uint32_t number : record.functions) {
    const auto function = its_functions_.find(number);
    fits = fits && function != its_functions_.end();
    if (!fits) break;
    PcFunction& known = samples_.functions[function->second];
    if (known.code != capture::kNoNumber) continue;  // another process has the same
    known.code = code;
    is_new = true;
  }
  if (!fits) notices.count("Machine code that fits no function of PC sampling left out");
  if (is_new) samples_.codes.push_back({record.elf_bytes, std::move(record.zstd_elf)});
}

bool PcSamplesFold::add_count(const capture::PcCount& count, std::uint32_t period_log2) {
  const auto function = its_functions_.find(count.function);
  if (function == its_functions_.end() || count.offset > kMostPcSamples) return false;
  bool all_known = true;
  for (const capture::PcStall& stall : count.stalls) {
    const auto reason = its_reasons_.find(stall.reason);
    if (reason == its_reasons_.end()) {
      all_known = false;
      continue;
    }
    Count& sum = counts_[{function->second, count.offset, reason->second}];
    sum_up(sum.samples, stall.samples);
    sum_up(sum.cycles, cycles_of(stall.samples, period_log2));
  }
  return all_known;
}

void PcSamplesFold::add(capture::SassCountsRecord&& record, std::uint32_t config, NoticeCounts& notices) {
  if (!counted_.insert(config).second) return;
  std::vector<std::uint32_t> metrics;
  for (std::string& metric : record.metrics) metrics.push_back(index_of(std::move(metric), metrics_, samples_.sass_metrics));
  const auto unknown = std::count_if(record.counts.begin(), record.counts.end(),
                                     [&](const capture::SassCount& count) { return !add_count(count, config, metrics); });
  notices.count("Counts of instructions that do not fit together left out", static_cast<std::uint64_t>(unknown));
}

bool PcSamplesFold::add_count(const capture::SassCount& count, std::uint32_t config, const std::vector<std::uint32_t>& metrics) {
  const auto function = its_functions_.find(count.function);
  if (function == its_functions_.end() || count.offset > kMostPcSamples) return false;
  bool all_known = true;
  for (const auto& [metric, value] : count.values) {
    if (metric < metrics.size()) {
      sass_.try_emplace({function->second, count.offset, config, metrics[metric]}, std::min(value, kMostPcSamples));
    } else {
      all_known = false;
    }
  }
  return all_known;
}

PcSamples PcSamplesFold::finish() && {
  std::map<Place, std::uint32_t> numbers;
  for (const auto& [key, count] : counts_) numbers.try_emplace({std::get<0>(key), std::get<1>(key)});
  for (const auto& [key, count] : sass_) numbers.try_emplace({std::get<0>(key), std::get<1>(key)});
  for (auto& [place, number] : numbers) {
    const auto line = lines_.find(place);
    const Line known = line == lines_.end() ? Line{} : line->second;
    number = static_cast<std::uint32_t>(samples_.instructions.size());
    samples_.instructions.push_back({place.first, place.second, known.file, known.line});
  }
  for (const auto& [key, count] : counts_) {
    const auto& [function, offset, reason] = key;
    samples_.stalls.push_back({numbers.at({function, offset}), reason, count.samples, count.cycles});
  }
  for (const auto& [key, value] : sass_) {
    const auto& [function, offset, config, metric] = key;
    samples_.counts.push_back({numbers.at({function, offset}), config, metric, value});
  }
  for (const auto& [key, totals] : totals_) samples_.totals.push_back(totals);
  return std::move(samples_);
}

}  // namespace dlkprof::model
