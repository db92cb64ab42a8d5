#include "job/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/new_file.h"
#include "base/text.h"

namespace dlkprof::job {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTold = 10;  // of a kind of warning

// Where a rank lies.
struct Source {
  std::size_t file = 0;
  std::uint32_t number = 0;  // in that file
  Rank head;
};

// Whether `a` is to be taken rather than `b`, of the same rank. A total order, so that it does not matter who is compared first.
bool is_better(const Rank& a, const Rank& b) {
  return std::tie(b.ended, b.launches, b.identity) < std::tie(a.ended, a.launches, a.identity);
}

class JobMerger {
 public:
  JobMerger(const std::vector<fs::path>& files, const Progress& progress) : files_(files), progress_(progress) {}

  Merged run(const fs::path& path) {
    for (std::size_t i = 0; i < files_.size(); ++i) look_at(i);
    if (chosen_.empty()) {
      throw Error("there is no rank to merge", merged_.failures.empty() ? "" : merged_.failures.front(),
                  "Give captures, databases or folders of the ranks of a job.");
    }
    // Names of ranks that are not chosen are not to be in the result.
    for (const auto& [identity, source] : chosen_) {
      JobDatabase& database = open(source.file);
      used_.add(database.read(source.number), database.names());
    }
    merged_.left_out.assign(left_out_.begin(), left_out_.end());
    write(path);
    return std::move(merged_);
  }

 private:
  void look_at(std::size_t file);
  void take(Source source);
  void write(const fs::path& path);
  void tell_ranks(const std::vector<std::uint32_t>& numbers);
  JobDatabase& open(std::size_t file);

  const std::vector<fs::path>& files_;
  const Progress& progress_;
  Merged merged_;
  std::map<RankIdentity, Source> chosen_;
  std::map<std::uint32_t, RankIdentity> by_number_;  // of those that have one
  std::set<LeftOutRank> left_out_;
  UsedNames used_;
  std::unique_ptr<JobDatabase> opened_;
  std::size_t opened_file_ = 0;
  std::optional<Renaming> renaming_;  // of the file that is open
};

JobDatabase& JobMerger::open(std::size_t file) {
  if (opened_ == nullptr || opened_file_ != file) {
    opened_ = std::make_unique<JobDatabase>(files_[file]);
    opened_file_ = file;
    renaming_.reset();
  }
  return *opened_;
}

void JobMerger::look_at(std::size_t file) {
  try {
    const JobDatabase& database = open(file);
    for (const auto& [number, head] : database.heads()) take({file, number, head});
    left_out_.insert(database.left_out().begin(), database.left_out().end());
  } catch (const Error& error) {
    opened_.reset();
    merged_.failures.push_back(error.message());
  }
}

void JobMerger::take(Source source) {
  const RankIdentity identity = source.head.identity;
  const std::string& file = files_[source.file].native();
  if (const auto known = chosen_.find(identity); known != chosen_.end()) {
    if (merged_.given_twice.empty() || merged_.given_twice.back() != file) merged_.given_twice.push_back(file);
    if (is_better(source.head, known->second.head)) known->second = std::move(source);
    return;
  }
  if (identity.number) {
    const auto [place, is_new] = by_number_.try_emplace(*identity.number, identity);
    if (!is_new) {
      const Source& other = chosen_.at(place->second);
      if (!is_better(source.head, other.head)) {
        left_out_.insert({identity});
        return;
      }
      left_out_.insert({place->second});
      chosen_.erase(place->second);
      place->second = identity;
    }
  }
  chosen_.emplace(identity, std::move(source));
}

void JobMerger::write(const fs::path& path) {
  std::vector<RankIdentity> identities;
  for (const auto& [identity, source] : chosen_) identities.push_back(identity);
  const std::map<RankIdentity, std::uint32_t> numbers = numbers_of(identities);
  std::map<std::uint32_t, const Source*> order;
  for (const auto& [identity, source] : chosen_) order.emplace(numbers.at(identity), &source);

  const Names names = used_.lists();
  NewFile file(path);
  JobWriter writer(file.path(), names, merged_.left_out);
  std::vector<std::uint32_t> present;
  for (const auto& [number, source] : order) {
    JobDatabase& database = open(source->file);
    if (!renaming_) renaming_.emplace(database.names(), names);
    Rank rank = database.read(source->number);
    renaming_->apply(rank);
    writer.add(number, rank);
    if (!rank.identity.number) ++merged_.unnumbered;
    if (!rank.ended || rank.damaged > 0) merged_.cut.push_back(number);
    merged_.world_size = std::max(merged_.world_size, rank.world_size);
    present.push_back(number);
    if (progress_) progress_(present.size(), order.size());
  }
  writer.finish();
  tell_ranks(present);
  opened_.reset();
  file.move_to_target(true);  // not flushed: it can be made again
}

// `numbers` rise.
void JobMerger::tell_ranks(const std::vector<std::uint32_t>& numbers) {
  merged_.ranks = numbers.size();
  const auto inside = std::lower_bound(numbers.begin(), numbers.end(), merged_.world_size) - numbers.begin();
  merged_.missing_count = merged_.world_size - static_cast<std::uint64_t>(inside);
  std::uint32_t expected = 0;
  for (auto next = numbers.begin(); expected < merged_.world_size && merged_.missing.size() < kMostTold; ++expected) {
    if (next != numbers.end() && *next == expected) {
      ++next;
    } else {
      merged_.missing.push_back(expected);
    }
  }
}

template <typename Value>
std::string first_ones(const std::vector<Value>& values, std::uint64_t all) {
  const std::size_t shown = std::min(values.size(), kMostTold);
  std::string text = fmt::format("{}", fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return all > shown ? fmt::format("{} and {} more", text, all - shown) : text;
}

}  // namespace

Merged merge_jobs(const std::vector<fs::path>& files, const fs::path& path, const Progress& progress) {
  return JobMerger(files, progress).run(path);
}

std::vector<std::string> warnings_of(const Merged& merged) {
  std::vector<std::string> lines;
  for (const std::string& failure : merged.failures) lines.push_back(failure);
  if (merged.ranks > 1 && merged.unnumbered > 0) {
    lines.push_back(
        fmt::format("{} of {} captures do not say which rank they are of, and got numbers in the order of hosts and "
                    "processes: if they are of runs apart, compare them with dlkprof compare instead",
                    merged.unnumbered, merged.ranks));
  }
  if (merged.missing_count > 0) {
    lines.push_back(fmt::format("{} of {} ranks are missing: {}", merged.missing_count, merged.world_size,
                                first_ones(merged.missing, merged.missing_count)));
  }
  if (!merged.cut.empty()) {
    lines.push_back(fmt::format("captures of {} ranks were cut short or damaged, and count as far as they go: {}",
                                merged.cut.size(), first_ones(merged.cut, merged.cut.size())));
  }
  for (std::size_t i = 0; i < std::min(merged.left_out.size(), kMostTold); ++i) {
    const RankIdentity& who = merged.left_out[i].identity;
    lines.push_back(fmt::format("rank {} is there twice: process {} on {} was left out, as the other one's capture has more",
                                who.number.value_or(0), who.pid, printable(who.host, 80)));
  }
  if (merged.left_out.size() > kMostTold)
    lines.push_back(fmt::format("{} more processes were left out so", merged.left_out.size() - kMostTold));
  if (!merged.given_twice.empty()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(merged.given_twice.size(), kMostTold); ++i)
      names.push_back(printable(merged.given_twice[i], 200));
    lines.push_back("the same process was given twice, and counts once: " + first_ones(names, merged.given_twice.size()));
  }
  return lines;
}

}  // namespace dlkprof::job
