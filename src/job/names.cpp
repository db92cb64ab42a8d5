#include "job/names.h"

#include <algorithm>
#include <tuple>

namespace dlkprof::job {
namespace {

template <typename Name>
std::vector<std::uint32_t> places_in(const std::vector<Name>& sorted, const std::vector<Name>& names) {
  std::vector<std::uint32_t> places;
  places.reserve(names.size());
  for (const Name& name : names) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), name);
    const bool found = place != sorted.end() && *place == name;
    places.push_back(found ? static_cast<std::uint32_t>(place - sorted.begin()) : kNone);
  }
  return places;
}

}  // namespace

void UsedNames::add(const Rank& rank, const Names& names) {
  for (const OpTimes& one : rank.times) ops_.insert(names.ops[one.op]);
  for (const OpCounter& one : rank.counters) {
    ops_.insert(names.ops[one.op]);
    metrics_.insert(names.metrics[one.metric]);
  }
  for (const RankCollective& one : rank.collectives) kinds_.insert(names.kinds[one.kind]);
}

Names UsedNames::lists() const {
  return {{ops_.begin(), ops_.end()}, {metrics_.begin(), metrics_.end()}, {kinds_.begin(), kinds_.end()}};
}

Renaming::Renaming(const Names& from, const Names& to)
    : ops_(places_in(to.ops, from.ops)), metrics_(places_in(to.metrics, from.metrics)), kinds_(places_in(to.kinds, from.kinds)) {}

void Renaming::apply(Rank& rank) const {
  for (OpTimes& one : rank.times) one.op = ops_[one.op];
  for (OpCounter& one : rank.counters) {
    one.op = ops_[one.op];
    one.metric = metrics_[one.metric];
  }
  for (RankCollective& one : rank.collectives) {
    one.kind = kinds_[one.kind];
    if (one.late_op != kNone) one.late_op = ops_[one.late_op];
  }
  std::sort(rank.times.begin(), rank.times.end(), [](const auto& a, const auto& b) { return a.op < b.op; });
  std::sort(rank.counters.begin(), rank.counters.end(),
            [](const auto& a, const auto& b) { return std::tie(a.op, a.metric) < std::tie(b.op, b.metric); });
}

}  // namespace dlkprof::job
