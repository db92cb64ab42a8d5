// Iterations of a program that marks none, from the sequence of its launches.
//
// Every launch configuration cuts the sequence into segments, each from one occurrence of it to the next. The training step is
// the segment that comes again and again, for a configuration launched once in a step; one launched in each layer gives
// segments of a layer, which cover less, as what lies around the layers is in none of them. So the anchor is the configuration
// with a segment whose repetitions cover most of the sequence. Segments are compared by prefix hashes (R. Karp, M. Rabin:
// Efficient randomized pattern-matching algorithms, 1987). All segments of all configurations together are as many as there
// are launches, so the whole takes n log n.
//
// Loops within loops look alike at every level: layers in a step, steps in an epoch. The outer one is taken where it covers
// more, that is where it does something besides the inner one, and comes at least three times. What an inner repetition does
// besides now and then may be as much as 1/32 of it: a step that also writes its log is still a step.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "model/fold/fold.h"

namespace dlkprof::model {
namespace {

constexpr std::size_t kFewestRepetitions = 3;
constexpr std::size_t kLeastShare = 4;   // less than a quarter of all launches is no loop that the program is about
constexpr std::size_t kSlack = 32;       // lengths of segments that are alike differ by at most 1/32
constexpr std::size_t kLooksAtMost = 8;  // candidates that are looked at launch by launch, to stay linear
constexpr std::uint64_t kHashBase = 0x9e3779b97f4a7c15;  // odd, so that its powers never vanish modulo 2^64

// Spreads small numbers over 64 bits (the finalizer of MurmurHash3).
constexpr std::uint64_t spread(std::uint64_t value) {
  value = (value ^ (value >> 33U)) * 0xff51afd7ed558ccdU;
  value = (value ^ (value >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return value ^ (value >> 33U);
}

// Hashes of all segments of a sequence, each in constant time.
class SegmentHashes {
 public:
  explicit SegmentHashes(std::span<const std::uint32_t> sequence) : prefix_(sequence.size() + 1), power_(sequence.size() + 1) {
    power_[0] = 1;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      prefix_[i + 1] = prefix_[i] * kHashBase + spread(std::uint64_t{sequence[i]} + 1);
      power_[i + 1] = power_[i] * kHashBase;
    }
  }
  [[nodiscard]] std::uint64_t of(std::size_t start, std::size_t length) const {
    return prefix_[start + length] - prefix_[start] * power_[length];
  }

 private:
  std::vector<std::uint64_t> prefix_, power_;
};

struct Segment {
  std::size_t start = 0, length = 0;
  std::uint64_t hash = 0;
  [[nodiscard]] bool same(const Segment& other) const { return hash == other.hash && length == other.length; }
  friend bool operator<(const Segment& a, const Segment& b) {  // those that are the same stand together
    return std::tie(a.length, a.hash, a.start) < std::tie(b.length, b.hash, b.start);
  }
};

// A segment that comes again and again between occurrences of a configuration.
struct RepeatCandidate {
  std::uint32_t config = 0;
  Segment segment;          // its first appearance
  std::size_t covered = 0;  // launches in all its appearances
};

class RepetitionFinder {
 public:
  explicit RepetitionFinder(std::span<const std::uint32_t> sequence) : sequence_(number(sequence)), hashes_(sequence_) {
    for (const std::uint32_t config : sequence_) ++first_[config + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    positions_.resize(sequence_.size());
    for (std::size_t i = 0; i < sequence_.size(); ++i) positions_[next[sequence_[i]]++] = i;
  }

  std::vector<std::size_t> find() {
    std::vector<RepeatCandidate> candidates = most_promising();
    if (candidates.empty()) return {};
    for (RepeatCandidate& candidate : candidates) add_those_alike(candidate);
    std::size_t most = 0;
    for (const RepeatCandidate& candidate : candidates) most = std::max(most, candidate.covered);
    if (most < sequence_.size() / kLeastShare) return {};
    // What a longer period covers besides must be more than the period at the end that a shorter one may have lost.
    std::erase_if(candidates, [&](const RepeatCandidate& one) { return one.covered + one.segment.length < most; });
    const RepeatCandidate& best = *std::min_element(
        candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.segment.length < b.segment.length; });
    return aligned(starts_of(best));
  }

 private:
  // Configurations by numbers from 0 without gaps.
  std::vector<std::uint32_t> number(std::span<const std::uint32_t> sequence) {
    std::vector<std::uint32_t> distinct(sequence.begin(), sequence.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    first_.assign(distinct.size() + 1, 0);
    seen_.assign(distinct.size(), 0);
    std::vector<std::uint32_t> numbered;
    numbered.reserve(sequence.size());
    for (const std::uint32_t config : sequence) {
      const auto found = std::lower_bound(distinct.begin(), distinct.end(), config);
      numbered.push_back(static_cast<std::uint32_t>(found - distinct.begin()));
    }
    return numbered;
  }

  [[nodiscard]] std::span<const std::size_t> occurrences(std::size_t config) const {
    return std::span(positions_).subspan(first_[config], first_[config + 1] - first_[config]);
  }
  [[nodiscard]] Segment segment(std::size_t start, std::size_t length) const {
    return {start, length, hashes_.of(start, length)};
  }
  [[nodiscard]] bool appears_at(const Segment& segment, std::size_t start) const {
    return segment.length <= sequence_.size() - start && hashes_.of(start, segment.length) == segment.hash;
  }

  // The candidate that covers most for one configuration; covered is 0 where there is none. Segments of one launch do not
  // count: a kernel launched many times in a row is no iteration.
  [[nodiscard]] RepeatCandidate best_of(std::uint32_t config) const {
    RepeatCandidate best{.config = config, .segment = {}, .covered = 0};
    const std::span<const std::size_t> at = occurrences(config);
    std::vector<Segment> segments;
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      if (at[i + 1] - at[i] > 1) segments.push_back(segment(at[i], at[i + 1] - at[i]));
    }
    std::sort(segments.begin(), segments.end());
    for (std::size_t i = 0, end = 0; i < segments.size(); i = end) {
      end = i;
      while (end < segments.size() && segments[end].same(segments[i])) ++end;
      const std::size_t times = end - i + (appears_at(segments[i], at.back()) ? 1 : 0);
      const std::size_t covered = times * segments[i].length;
      if (times >= kFewestRepetitions && covered >= best.covered) best = {config, segments[i], covered};
    }
    return best;
  }

  // The best candidates of different lengths.
  [[nodiscard]] std::vector<RepeatCandidate> most_promising() const {
    std::vector<RepeatCandidate> all;
    for (std::uint32_t config = 0; config + 1 < first_.size(); ++config) {
      const RepeatCandidate best = best_of(config);
      if (best.covered > 0) all.push_back(best);
    }
    // Of those of the same length, which are rotations of one another, the one that begins first.
    std::sort(all.begin(), all.end(), [](const RepeatCandidate& a, const RepeatCandidate& b) {
      return std::tie(a.segment.length, b.covered, a.segment.start) < std::tie(b.segment.length, a.covered, b.segment.start);
    });
    const auto same_length = [](const RepeatCandidate& a, const RepeatCandidate& b) {
      return a.segment.length == b.segment.length;
    };
    all.erase(std::unique(all.begin(), all.end(), same_length), all.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const RepeatCandidate& a, const RepeatCandidate& b) { return a.covered > b.covered; });
    all.resize(std::min(all.size(), kLooksAtMost));
    return all;
  }

  // Whether `other` is such a segment as `usual` with more in it, or hardly less: it holds three quarters of its different
  // configurations, and is not shorter.
  [[nodiscard]] bool resembles(const Segment& other, const Segment& usual) {
    if (other.length + usual.length / kSlack < usual.length) return false;
    ++stamp_;
    for (std::size_t i = 0; i < other.length; ++i) seen_[sequence_[other.start + i]] = stamp_;
    const std::uint32_t in_other = stamp_++;
    std::size_t different = 0, held = 0;
    for (std::size_t i = 0; i < usual.length; ++i) {
      std::uint32_t& seen = seen_[sequence_[usual.start + i]];
      if (seen == stamp_) continue;
      ++different;
      held += seen == in_other ? 1 : 0;
      seen = stamp_;
    }
    return 4 * held >= 3 * different;
  }

  void add_those_alike(RepeatCandidate& candidate) {
    const Segment& usual = candidate.segment;
    const std::span<const std::size_t> at = occurrences(candidate.config);
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      const Segment one = segment(at[i], at[i + 1] - at[i]);
      if (one.same(usual) || one.length > usual.length + usual.length / kSlack) continue;
      if (resembles(one, usual)) candidate.covered += one.length;
    }
  }

  // Where repetitions begin: the usual ones, and different ones that do the same and more, such as the first, in which
  // libraries try what is fastest. What else lies between belongs to the repetition before it.
  [[nodiscard]] std::vector<std::size_t> starts_of(const RepeatCandidate& candidate) {
    std::vector<std::size_t> starts;
    const std::span<const std::size_t> at = occurrences(candidate.config);
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      const Segment one = segment(at[i], at[i + 1] - at[i]);
      if (one.same(candidate.segment) || resembles(one, candidate.segment)) starts.push_back(at[i]);
    }
    const Segment rest = segment(at.back(), sequence_.size() - at.back());
    const bool cut = rest.length < candidate.segment.length && hashes_.of(candidate.segment.start, rest.length) == rest.hash;
    if (cut || appears_at(candidate.segment, rest.start) || resembles(rest, candidate.segment)) starts.push_back(rest.start);
    return starts;
  }

  // The anchor need not be what a repetition begins with: of AAB AAB AAB it is B. The same sequence is a repetition of ABA and
  // of BAA as well, with what is left before it and after it; it begins as early as it can, unless there is a first iteration
  // that says better.
  [[nodiscard]] std::vector<std::size_t> aligned(std::vector<std::size_t> starts) {
    const Segment period = most_frequent(starts);
    std::size_t before = 0;
    while (before + 1 < period.length && before < period.start &&
           sequence_[period.start - 1 - before] == sequence_[period.start + period.length - 1 - before]) {
      ++before;
    }
    std::size_t end = starts.back();
    while (end < sequence_.size() && sequence_[end] == sequence_[period.start + (end - starts.back()) % period.length]) ++end;
    const std::size_t earliest = period.start - before;
    const std::size_t left_over = (before + end - starts.back()) % period.length;
    const std::size_t start = earliest + turn(segment(earliest, period.length), left_over);
    if (start == period.start) return starts;
    if (is_unique(start, segment(earliest, period.length))) {
      return starts_of({.config = sequence_[start], .segment = segment(start, period.length), .covered = 0});
    }
    std::erase_if(starts, [&](std::size_t one) { return one < before; });
    for (std::size_t& one : starts) one -= before;
    if (starts.back() + period.length < end) starts.push_back(starts.back() + period.length);
    return starts;
  }

  [[nodiscard]] bool is_unique(std::size_t position, const Segment& period) const {
    const auto first = sequence_.begin() + static_cast<std::ptrdiff_t>(period.start);
    return std::count(first, first + static_cast<std::ptrdiff_t>(period.length), sequence_[position]) == 1;
  }

  // By how many launches, at most `most`, later than `period` begins what a first and different iteration before it began with:
  // one that holds three quarters of the configurations. 0 where there is no such iteration.
  [[nodiscard]] std::size_t turn(const Segment& period, std::size_t most) {
    struct Config {
      std::size_t offset = 0;     // of its first launch in the period
      std::ptrdiff_t before = 0;  // position of its last launch before the period; -1: none
      bool unique = true;         // launched once in the period
    };
    std::vector<Config> configs;
    ++stamp_;
    for (std::size_t i = 0; i < period.length; ++i) {
      const std::uint32_t config = sequence_[period.start + i];
      if (std::exchange(seen_[config], stamp_) == stamp_) continue;
      const std::span<const std::size_t> at = occurrences(config);
      const auto next = std::lower_bound(at.begin(), at.end(), period.start);
      const bool again = next + 1 < at.end() && *(next + 1) < period.start + period.length;
      configs.push_back({i, next == at.begin() ? -1 : static_cast<std::ptrdiff_t>(*(next - 1)), !again});
    }
    std::size_t looks = kLooksAtMost * sequence_.size() / configs.size();  // so that all of them take linear time
    for (const Config& first : configs) {
      if (first.offset > most || looks-- == 0) break;
      const bool near =
          first.before >= 0 && period.start - static_cast<std::size_t>(first.before) <= kLooksAtMost * period.length;
      if (!near || !first.unique) continue;
      const auto held = std::count_if(configs.begin(), configs.end(), [&](const Config& other) {
        return other.offset < first.offset || other.before >= first.before;
      });
      if (4 * static_cast<std::size_t>(held) >= 3 * configs.size()) return first.offset;
    }
    return 0;
  }

  [[nodiscard]] Segment most_frequent(std::span<const std::size_t> starts) const {
    std::vector<Segment> segments;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) segments.push_back(segment(starts[i], starts[i + 1] - starts[i]));
    std::sort(segments.begin(), segments.end());
    Segment best;
    for (std::size_t i = 0, end = 0, most = 0; i < segments.size(); i = end) {
      end = i;
      while (end < segments.size() && segments[end].same(segments[i])) ++end;
      if (end - i > most) best = segments[i];
      most = std::max(most, end - i);
    }
    return best;
  }

  // number() sets the first two up, so they stand before what it gives.
  std::vector<std::size_t> first_;   // of each configuration: where its positions begin in positions_; and their end
  std::vector<std::uint32_t> seen_;  // of each configuration: the stamp_ of when it was seen
  std::uint32_t stamp_ = 0;          // two a segment looked at, of at least two launches each: never comes round
  std::vector<std::uint32_t> sequence_;
  SegmentHashes hashes_;
  std::vector<std::size_t> positions_;  // of all configurations, each one's rising
};

}  // namespace

std::vector<std::size_t> find_repetition(std::span<const std::uint32_t> sequence) {
  if (sequence.size() < kFewestRepetitions) return {};
  // A program that launches one thing over and over: each launch is an iteration.
  if (std::equal(sequence.begin() + 1, sequence.end(), sequence.begin())) {
    std::vector<std::size_t> every(sequence.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    return every;
  }
  return RepetitionFinder(sequence).find();
}

}  // namespace dlkprof::model
