#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "model/aggregate/aggregate_parts.h"
#include "model/aggregate/counter_join.h"

namespace dlkprof::model {
namespace {

void add_stats(Stats& sum, const Stats& part) {
  if (part.n == 0) return;
  const Stats before = sum;
  sum.add(part.total);
  sum.n = before.n + part.n;
  sum.least = before.n == 0 ? part.least : std::min(before.least, part.least);
  sum.most = before.n == 0 ? part.most : std::max(before.most, part.most);
}

}  // namespace

std::vector<OpTypeRow> make_type_rows(const IterationSlice& slice, const std::vector<OpRow>& ops) {
  std::vector<OpTypeRow> rows;
  std::unordered_map<std::string_view, std::uint32_t> index;  // of each type
  std::vector<std::uint32_t> row_of_op(slice.fold.ops.size());
  for (const OpRow& op : ops) {
    const Op& described = slice.fold.ops[op.op];
    const auto [known, is_new] = index.try_emplace(described.type, static_cast<std::uint32_t>(rows.size()));
    if (is_new) rows.emplace_back().type = described.type;
    OpTypeRow& row = rows[row_of_op[op.op] = known->second];
    ++row.nodes;
    row.eligible |= described.eligible;
    row.uses_tc |= op.uses_tc;
    add_stats(row.cpu, op.cpu);
    add_stats(row.gpu, op.gpu);
    add_stats(row.overhead, op.overhead);
    add_stats(row.idle, op.idle);
  }
  CounterJoin join(slice.timeline);
  slice.for_each_activity([&](std::uint32_t activity_index, const Activity& activity) {
    join.add(row_of_op[slice.op_of(activity_index)], activity);
  });
  std::vector<Counters> counters = join.finish(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].counters = std::move(counters[row]);
  std::stable_sort(rows.begin(), rows.end(), [](const OpTypeRow& a, const OpTypeRow& b) { return a.gpu.total > b.gpu.total; });
  return rows;
}

}  // namespace dlkprof::model
