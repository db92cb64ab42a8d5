// Which index a number of the capture stands for: a flat table, since there are millions. Add all, sort once, then find.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace dlkprof::model {

template <typename Key>
class JoinIndex {
 public:
  struct Entry {
    Key key{};
    std::uint32_t index = 0;
  };
  static constexpr std::uint32_t kNotThere = ~std::uint32_t{0};

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t capacity() const { return entries_.capacity(); }
  void reserve(std::size_t entries) { entries_.reserve(entries); }
  void add(Key key, std::uint32_t index) { entries_.push_back({key, index}); }

  // Of entries with one key the first added stays; returns the indices of the others.
  std::vector<std::uint32_t> sort() {
    const auto before = [](const Entry& a, const Entry& b) { return std::tie(a.key, a.index) < std::tie(b.key, b.index); };
    if (!std::is_sorted(entries_.begin(), entries_.end(), before)) std::sort(entries_.begin(), entries_.end(), before);
    std::vector<std::uint32_t> again;
    std::size_t kept = 0;
    for (const Entry& entry : entries_) {
      if (kept > 0 && entries_[kept - 1].key == entry.key) {
        again.push_back(entry.index);
      } else {
        entries_[kept++] = entry;
      }
    }
    entries_.resize(kept);
    return again;
  }

  // kNotThere where no entry has the key. Keys are nearly always consecutive numbers, so that the place of one says that of the
  // next; only where they are not is it searched for.
  [[nodiscard]] std::uint32_t find(Key key) {
    if (entries_.empty()) return kNotThere;
    const std::uint64_t guess = last_ + (std::uint64_t{key} - std::uint64_t{entries_[last_].key});  // modulo 2^64
    if (guess < entries_.size() && entries_[guess].key == key) {
      last_ = static_cast<std::size_t>(guess);
      return entries_[last_].index;
    }
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), key, [](const Entry& a, Key b) { return a.key < b; });
    if (found == entries_.end() || found->key != key) return kNotThere;
    last_ = static_cast<std::size_t>(found - entries_.begin());
    return found->index;
  }

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::size_t last_ = 0;  // found last
};

}  // namespace dlkprof::model
