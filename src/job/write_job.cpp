#include <algorithm>
#include <set>

#include "base/new_file.h"
#include "job/database.h"

namespace dlkprof::job {
namespace {

template <typename Name>
std::uint32_t place_of(const std::vector<Name>& sorted, const Name& name) {
  return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), name) - sorted.begin());
}

// A rank with its own lists as one of the lists of a job; only names that its rows use are in them.
struct Names {
  std::vector<OpName> ops;
  std::vector<std::string> metrics, kinds;
};

Names names_of(const std::vector<Rank>& ranks) {
  std::set<OpName> ops;
  std::set<std::string> metrics, kinds;
  for (const Rank& rank : ranks) {
    for (const OpTimes& one : rank.times) ops.insert(rank.ops[one.op]);
    for (const OpCounter& one : rank.counters) {
      ops.insert(rank.ops[one.op]);
      metrics.insert(rank.metrics[one.metric]);
    }
    for (const RankCollective& one : rank.collectives) kinds.insert(rank.kinds[one.kind]);
  }
  return {{ops.begin(), ops.end()}, {metrics.begin(), metrics.end()}, {kinds.begin(), kinds.end()}};
}

Rank renamed(Rank rank, const Names& names) {
  for (OpTimes& one : rank.times) one.op = place_of(names.ops, rank.ops[one.op]);
  for (OpCounter& one : rank.counters) {
    one.op = place_of(names.ops, rank.ops[one.op]);
    one.metric = place_of(names.metrics, rank.metrics[one.metric]);
  }
  for (RankCollective& one : rank.collectives) {
    one.kind = place_of(names.kinds, rank.kinds[one.kind]);
    if (one.late_op != kNone) one.late_op = place_of(names.ops, rank.ops[one.late_op]);
  }
  return rank;
}

}  // namespace

void write_job(const std::filesystem::path& path, const std::vector<Rank>& ranks) {
  const Names names = names_of(ranks);
  std::vector<RankIdentity> identities;
  for (const Rank& rank : ranks) identities.push_back(rank.identity);
  const std::map<RankIdentity, std::uint32_t> numbers = numbers_of(identities);
  std::map<std::uint32_t, const Rank*> order;
  for (const Rank& rank : ranks) order.emplace(numbers.at(rank.identity), &rank);
  NewFile file(path);
  JobWriter writer(file.path(), names.ops, names.metrics, names.kinds, {});
  for (const auto& [number, rank] : order) writer.add(number, renamed(*rank, names));
  writer.finish();
  file.move_to_target(true);  // not flushed: it can be made again
}

}  // namespace dlkprof::job
