#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "job/rank_events.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::job {
namespace {

using model::add_ns;
using model::elapsed_ns;

// What an op did in one iteration.
struct OpIteration {
  std::int64_t gpu_ns = 0, wait_ns = 0;
  std::uint32_t segment = 0;  // of its first event
  [[nodiscard]] std::int64_t taken_ns() const {
    std::int64_t both = gpu_ns;
    add_ns(both, wait_ns);
    return both;
  }
};

class RankAggregator {
 public:
  explicit RankAggregator(RankEvents& from) : from_(from), rank_(from.about), usual_(from.about.ops.size()) {
    for (std::size_t i = 0; i < from.iterations.size(); ++i) places_[from.iterations[i].iteration] = i;
  }

  Rank run() {
    rank_.iterations = from_.iterations;
    walk();
    find_exposed();
    op_times();
    number_collectives();
    name_late_ops();
    return std::move(rank_);
  }

 private:
  using Cell = std::pair<const std::pair<std::uint32_t, std::size_t>, OpIteration>;
  struct Span {
    std::int64_t start_ns = 0, end_ns = 0;
  };
  struct Open {  // the iteration that the walk is in
    model::Flattened all, others, collectives;
    bool any = false;
    std::uint32_t count = 0;  // of collectives
  };

  void walk();
  void see(const RankEvent& event, std::size_t place);
  void see_collective(const RankEvent& event, Open& open);
  void see_other(const RankEvent& event);
  void find_exposed();
  void op_times();
  void add_op(std::span<const Cell* const> cells);
  void number_collectives();
  void name_late_ops();

  RankEvents& from_;
  Rank& rank_;
  std::map<std::uint32_t, std::size_t> places_;                         // of iterations, by number
  std::map<std::pair<std::uint32_t, std::size_t>, OpIteration> cells_;  // by op and place; only what there is
  std::vector<std::int64_t> usual_;                                     // by op: median over iterations of what it took
  std::map<std::uint32_t, std::uint64_t> launches_;                     // by op
  std::vector<Open> open_;
  std::vector<Span> others_;  // in which anything but collectives ran: apart from one another, and rising
  std::map<std::uint32_t, std::uint32_t> communicators_;  // by stream
  std::int64_t busy_until_ = 0;
  bool began_ = false;
};

// A collective lasts until the last rank has come: how long says nothing of this rank, so that ops have only the wait before it.
void RankAggregator::see(const RankEvent& event, std::size_t place) {
  Open& open = open_[place];
  RankIteration& iteration = rank_.iterations[place];
  OpIteration& op = cells_.try_emplace({event.op, place}, OpIteration{0, 0, open.count}).first->second;
  const std::int64_t wait = began_ ? elapsed_ns(busy_until_, event.start_ns) : 0;
  if (event.kind == kNone) add_ns(op.gpu_ns, elapsed_ns(event.start_ns, event.end_ns));
  add_ns(op.wait_ns, wait);
  add_ns(open.any ? iteration.idle_ns : iteration.input_ns, wait);
  open.any = true;
  ++launches_[event.op];
  open.all.add(event.start_ns, event.end_ns);
  (event.kind == kNone ? open.others : open.collectives).add(event.start_ns, event.end_ns);
  busy_until_ = began_ ? std::max(busy_until_, event.end_ns) : event.end_ns;
  began_ = true;
  event.kind == kNone ? see_other(event) : see_collective(event, open);
}

// Events come by their start.
void RankAggregator::see_other(const RankEvent& event) {
  if (others_.empty() || event.start_ns > others_.back().end_ns)
    others_.push_back({event.start_ns, event.end_ns});
  else
    others_.back().end_ns = std::max(others_.back().end_ns, event.end_ns);
}

void RankAggregator::find_exposed() {
  for (RankCollective& one : rank_.collectives) {
    one.exposed_ns = elapsed_ns(one.start_ns, one.end_ns);
    auto other =
        std::partition_point(others_.begin(), others_.end(), [&one](const Span& span) { return span.end_ns <= one.start_ns; });
    for (; other != others_.end() && other->start_ns < one.end_ns; ++other)
      one.exposed_ns -= elapsed_ns(std::max(other->start_ns, one.start_ns), std::min(other->end_ns, one.end_ns));
    one.exposed_ns = std::max<std::int64_t>(0, one.exposed_ns);
  }
}

void RankAggregator::see_collective(const RankEvent& event, Open& open) {
  const auto next = static_cast<std::uint32_t>(communicators_.size());
  RankCollective one;
  one.communicator = communicators_.try_emplace(event.stream, next).first->second;
  one.iteration = event.iteration;
  one.position = open.count++;
  one.kind = event.kind;
  one.start_ns = event.start_ns;
  one.end_ns = event.end_ns;
  one.bytes = event.bytes;
  rank_.collectives.push_back(one);
}

void RankAggregator::walk() {
  open_.resize(from_.iterations.size());
  for (const RankEvent& event : from_.events) {
    const auto place = places_.find(event.iteration);
    if (place != places_.end() && event.op < usual_.size()) see(event, place->second);
  }
  for (std::size_t i = 0; i < open_.size(); ++i) {
    RankIteration& iteration = rank_.iterations[i];
    iteration.gpu_ns = open_[i].all.covered_ns();
    iteration.collective_ns = open_[i].collectives.covered_ns();
    iteration.exposed_ns = iteration.gpu_ns - open_[i].others.covered_ns();
  }
}

void RankAggregator::op_times() {
  std::vector<const Cell*> cells;
  for (const Cell& cell : cells_) {
    if (!cells.empty() && cells.back()->first.first != cell.first.first) {
      add_op(cells);
      cells.clear();
    }
    cells.push_back(&cell);
  }
  if (!cells.empty()) add_op(cells);
}

// The cells of an op. In other iterations it took no time.
void RankAggregator::add_op(std::span<const Cell* const> cells) {
  OpTimes times;
  times.op = cells.front()->first.first;
  times.launches = launches_[times.op];
  rank_.launches += times.launches;
  std::vector<std::int64_t> taken;
  std::vector<std::uint32_t> segments;
  for (const Cell* cell : cells) {
    times.gpu_ns.add(static_cast<std::uint64_t>(cell->second.gpu_ns));
    times.wait_ns.add(static_cast<std::uint64_t>(cell->second.wait_ns));
    taken.push_back(cell->second.taken_ns());
    segments.push_back(cell->second.segment);
  }
  for (std::size_t i = cells.size(); i < rank_.iterations.size(); ++i) {
    times.gpu_ns.add(0);
    times.wait_ns.add(0);
    taken.push_back(0);
  }
  const auto middle = [](auto& values) {
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), half, values.end());
    return *half;
  };
  usual_[times.op] = middle(taken);
  times.segment = middle(segments);
  rank_.times.push_back(times);
}

// In the order of their start, which is that of the walk.
void RankAggregator::number_collectives() {
  std::map<std::uint32_t, std::uint32_t> next;
  for (RankCollective& one : rank_.collectives) one.sequence = next[one.communicator]++;
}

void RankAggregator::name_late_ops() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, RankCollective*> by_place;
  for (RankCollective& one : rank_.collectives) by_place[{one.iteration, one.position}] = &one;
  for (const auto& [place, cell] : cells_) {
    const auto found = by_place.find({rank_.iterations[place.second].iteration, cell.segment});
    const std::int64_t excess = cell.taken_ns() - usual_[place.first];
    if (found == by_place.end() || excess <= found->second->late_ns) continue;
    found->second->late_op = place.first;
    found->second->late_ns = excess;
  }
  std::stable_sort(rank_.collectives.begin(), rank_.collectives.end(), [](const RankCollective& a, const RankCollective& b) {
    return std::pair(a.communicator, a.sequence) < std::pair(b.communicator, b.sequence);
  });
}

}  // namespace

Rank aggregate_rank(RankEvents events) { return RankAggregator(events).run(); }

}  // namespace dlkprof::job
