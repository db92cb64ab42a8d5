#include "inject/session/ledger.h"

namespace dlkprof::inject {

Ledger::Line& Ledger::touch(Entry entry) {
  Line& line = lines_[entry];
  line.changed = true;
  changed_ = true;
  return line;
}

Ledger::Counted Ledger::launched(const capture::LaunchKey& key, select::NameMatch names, bool matched) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = entries_.try_emplace(key, lines_.size());
  if (is_new) lines_.emplace_back(key);
  auto& stats = touch(place->second).stats;
  if (matched) ++stats.matched;
  if (!matched && names == select::NameMatch::near) ++stats.near_missed;
  return {place->second, stats.launches++};
}

void Ledger::graph_launched() {
  const std::lock_guard lock(mutex_);
  ++graph_launches_;
  changed_ = true;
}

std::atomic<std::uint64_t>* Ledger::counter(Entry entry, select::NameMatch names) {
  const std::lock_guard lock(mutex_);
  lines_[entry].names = names;
  return &lines_[entry].uncounted;
}

void Ledger::count_up(Line& line) {
  const std::uint64_t more = line.uncounted.exchange(0, std::memory_order_relaxed);
  if (more == 0) return;
  line.stats.launches += more;
  if (line.names == select::NameMatch::near) line.stats.near_missed += more;
  if (line.names == select::NameMatch::yes) line.stats.matched += more;
  line.changed = true;
  changed_ = true;
}

std::vector<std::uint64_t> Ledger::launches() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> counts;
  counts.reserve(lines_.size());
  for (const Line& line : lines_) counts.push_back(line.stats.launches + line.uncounted.load(std::memory_order_relaxed));
  return counts;
}

bool Ledger::take_sample(Entry entry, std::optional<std::uint64_t> limit) {
  const std::lock_guard lock(mutex_);
  if (limit && lines_[entry].stats.measured >= *limit) return false;
  ++touch(entry).stats.measured;
  return true;
}

void Ledger::skipped(Entry entry, capture::SkipReason reason, bool was_sampled) {
  const std::lock_guard lock(mutex_);
  auto& stats = touch(entry).stats;
  if (was_sampled) --stats.measured;
  ++stats.skipped;
  stats.reason = reason;
}

void Ledger::expect_time(std::uint32_t correlation, Entry entry) {
  const std::lock_guard lock(mutex_);
  expected_.emplace(correlation, entry);
}

void Ledger::add_time(const capture::ActivityEvent& work) {
  if (work.kind != capture::ActivityKind::kernel) return;
  const auto gpu_ns = static_cast<std::uint64_t>(work.end_ns - work.start_ns);
  const std::lock_guard lock(mutex_);
  if (work.graph_node != 0) {
    graph_gpu_ns_ += gpu_ns;
    changed_ = true;
    return;
  }
  const auto expected = expected_.find(work.correlation);
  if (expected == expected_.end() || work.start_ns == 0) return;  // measured, launched before we looked, or not timed
  auto& stats = touch(expected->second).stats;
  ++stats.timed;
  stats.timed_gpu_ns += gpu_ns;
  expected_.erase(expected);
}

std::optional<capture::KeyStatsRecord> Ledger::changes(bool timing_complete) {
  const std::lock_guard lock(mutex_);
  for (auto& line : lines_) count_up(line);
  if (!changed_) return std::nullopt;
  capture::KeyStatsRecord record;
  for (auto& line : lines_) {
    if (!line.changed) continue;
    record.keys.push_back(line.stats);
    line.changed = false;
  }
  record.graph_launches = graph_launches_;
  record.graph_timed_gpu_ns = graph_gpu_ns_;
  record.timing_complete = timing_complete;
  changed_ = false;
  return record;
}

}  // namespace dlkprof::inject
