// What became of every launch, by launch key: seen, matched, measured, left alone, timed. The launch path writes it,
// CUPTI's thread adds GPU times, and what changed goes to the capture now and then. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/launch_key_hash.h"
#include "dlkprof/capture_format.h"
#include "select/selector.h"

namespace dlkprof::inject {

class Ledger {
 public:
  using Entry = std::size_t;

  // Counts a launch; gives its entry and its position among the launches of its key.
  struct Counted {
    Entry entry;
    std::uint64_t occurrence;
  };
  Counted launched(const capture::LaunchKey& key, select::NameMatch names, bool matched);
  void graph_launched();
  // Counts further launches of an entry that no filter takes, without the lock; valid as long as the ledger.
  [[nodiscard]] std::atomic<std::uint64_t>* counter(Entry entry, select::NameMatch names);

  // Takes one of `limit` samples of a key (none: without limit); false where they are used up.
  [[nodiscard]] bool take_sample(Entry entry, std::optional<std::uint64_t> limit);
  // A sample that was taken came to nothing.
  void skipped(Entry entry, capture::SkipReason reason, bool was_sampled);

  // How often each entry was launched so far.
  [[nodiscard]] std::vector<std::uint64_t> launches();

  // The activity records of launch call `correlation` count for `entry`; of a graph launch for graphs.
  void expect_time(std::uint32_t correlation, Entry entry);
  void add_time(const capture::ActivityEvent& work);

  // What changed since the last call; none where nothing did.
  [[nodiscard]] std::optional<capture::KeyStatsRecord> changes(bool timing_complete);

 private:
  struct Line {
    explicit Line(const capture::LaunchKey& key) { stats.key = key; }

    capture::KeyStats stats;
    bool changed = false;
    select::NameMatch names = select::NameMatch::no;  // of launches that are not in `stats` yet
    std::atomic<std::uint64_t> uncounted{0};          // launches that are not in `stats` yet
  };
  void count_up(Line& line);
  Line& touch(Entry entry);

  std::mutex mutex_;
  std::unordered_map<capture::LaunchKey, Entry, capture::LaunchKeyHash> entries_;
  std::deque<Line> lines_;
  std::unordered_map<std::uint32_t, Entry> expected_;
  std::uint64_t graph_launches_ = 0, graph_gpu_ns_ = 0;
  bool changed_ = false;
};

}  // namespace dlkprof::inject
