#include "job/collective_rounds.h"

#include <algorithm>
#include <tuple>

namespace dlkprof::job {
namespace {

auto place_of(const RankCollective& one) { return std::pair(one.communicator, one.sequence); }

}  // namespace

CollectiveRounds::CollectiveRounds(JobDatabase& database, const std::vector<RankRow>& ranks, std::size_t rows_at_once)
    : database_(database),
      ranks_(ranks),
      at_once_(std::max<std::size_t>(2, rows_at_once / std::max<std::size_t>(1, ranks.size()))),
      waiting_(ranks.size()) {}

void CollectiveRounds::load(std::uint32_t number, Waiting& waiting) {
  const std::size_t wanted = at_once_ - waiting.rows.size();
  std::vector<RankCollective> more = database_.read_collectives(number, waiting.last, wanted);
  waiting.has_more = more.size() == wanted;
  if (!more.empty()) waiting.last = more.back();
  waiting.rows.insert(waiting.rows.end(), more.begin(), more.end());
}

// A rank that may have more rows tells how far all may go.
bool CollectiveRounds::next(std::vector<CollectiveOfRank>& round) {
  round.clear();
  std::optional<std::pair<std::uint32_t, std::uint32_t>> end;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    Waiting& waiting = waiting_[i];
    if (waiting.has_more && waiting.rows.size() <= at_once_ / 2) load(ranks_[i].number, waiting);
    if (waiting.has_more) end = end ? std::min(*end, place_of(waiting.rows.back())) : place_of(waiting.rows.back());
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    std::vector<RankCollective>& rows = waiting_[i].rows;
    const auto taken =
        end ? std::find_if(rows.begin(), rows.end(), [&end](const auto& row) { return place_of(row) > *end; }) : rows.end();
    for (auto row = rows.begin(); row != taken; ++row) round.push_back({static_cast<std::uint32_t>(i), ranks_[i].role, *row});
    rows.erase(rows.begin(), taken);
  }
  const auto key = [](const CollectiveOfRank& one) { return std::tuple(one.role, one.what.communicator, one.what.sequence); };
  std::stable_sort(round.begin(), round.end(), [&key](const auto& a, const auto& b) { return key(a) < key(b); });
  return !round.empty();
}

}  // namespace dlkprof::job
