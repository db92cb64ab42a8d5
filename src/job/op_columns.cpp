#include "job/op_columns.h"

#include <algorithm>

namespace dlkprof::job {

OpColumns::OpColumns(JobDatabase& database, std::size_t rows_at_once)
    : database_(database), ops_(static_cast<std::uint32_t>(database.names().ops.size())) {
  for (const auto& [number, head] : database.heads()) numbers_.push_back(number);
  const std::size_t ranks = std::max<std::size_t>(1, numbers_.size());
  at_once_ = static_cast<std::uint32_t>(std::clamp<std::size_t>(rows_at_once / ranks, 1, std::max<std::uint32_t>(1, ops_)));
  for (const std::string_view name : kWorkMetrics) work_metrics_.push_back(metric(name));
}

std::uint32_t OpColumns::metric(std::string_view name) const {
  const auto& names = database_.names().metrics;
  const auto place = std::lower_bound(names.begin(), names.end(), name);
  return place != names.end() && *place == name ? static_cast<std::uint32_t>(place - names.begin()) : kNone;
}

bool OpColumns::next() {
  if (!columns_.empty()) ++place_;
  for (;;) {
    while (place_ < columns_.size() && columns_[place_].empty()) ++place_;
    if (place_ < columns_.size()) return true;
    first_ += static_cast<std::uint32_t>(columns_.size());
    if (first_ >= ops_) return false;
    load();
  }
}

void OpColumns::load() {
  place_ = 0;
  columns_.resize(std::min(at_once_, ops_ - first_));
  for (std::vector<OpOfRank>& column : columns_) column.clear();
  for (std::size_t i = 0; i < numbers_.size(); ++i) load_rank(static_cast<std::uint32_t>(i), numbers_[i]);
}

void OpColumns::load_rank(std::uint32_t rank, std::uint32_t number) {
  const OpRange range{first_, first_ + static_cast<std::uint32_t>(columns_.size()) - 1};
  for (const OpTimes& one : database_.read_times(number, range)) {
    const double launches = static_cast<double>(one.launches) / static_cast<double>(std::max<std::uint64_t>(1, one.gpu_ns.n));
    columns_[one.op - first_].push_back(
        {rank, one.segment, one.gpu_ns.mean(), one.wait_ns.mean(), one.gpu_ns.deviation(), launches, {}});
  }
  if (std::all_of(work_metrics_.begin(), work_metrics_.end(), [](std::uint32_t metric) { return metric == kNone; })) return;
  for (const OpCounter& one : database_.read_counters(number, range)) {
    std::vector<OpOfRank>& column = columns_[one.op - first_];
    const auto work = std::find(work_metrics_.begin(), work_metrics_.end(), one.metric);
    if (work == work_metrics_.end() || column.empty() || column.back().rank != rank) continue;
    column.back().work.at(static_cast<std::size_t>(work - work_metrics_.begin())) = static_cast<float>(one.value);
  }
}

}  // namespace dlkprof::job
