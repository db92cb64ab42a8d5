#include "base/new_file.h"
#include "job/database.h"

namespace dlkprof::job {

void write_job(const std::filesystem::path& path, const std::vector<Rank>& ranks) {
  const auto names_of = [](const Rank& rank) { return Names{rank.ops, rank.metrics, rank.kinds}; };
  UsedNames used;
  std::vector<RankIdentity> identities;
  for (const Rank& rank : ranks) {
    used.add(rank, names_of(rank));
    identities.push_back(rank.identity);
  }
  const Names names = used.lists();
  const std::map<RankIdentity, std::uint32_t> numbers = numbers_of(identities);
  std::map<std::uint32_t, const Rank*> order;
  for (const Rank& rank : ranks) order.emplace(numbers.at(rank.identity), &rank);
  NewFile file(path);
  JobWriter writer(file.path(), names, {});
  for (const auto& [number, rank] : order) {
    Rank renamed = *rank;
    Renaming(names_of(*rank), names).apply(renamed);
    writer.add(number, renamed);
  }
  writer.finish();
  file.move_to_target(true);  // not flushed: it can be made again
}

}  // namespace dlkprof::job
