// Indices in groups: which children each parent has, which works each call, ... Counting sort, so linear; indices of a
// group stay in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlkprof::model {

class GroupedIndices {
 public:
  // `group_of(i)` for i in [0, count) is the group of i, in [0, groups), or anything else for none.
  template <typename GroupOf>
  GroupedIndices(std::size_t count, std::size_t groups, GroupOf group_of) : ends_(groups + 1) {
    for (std::size_t i = 0; i < count; ++i) {
      if (const std::size_t group = group_of(i); group < groups) ++ends_[group + 1];
    }
    for (std::size_t group = 0; group < groups; ++group) ends_[group + 1] += ends_[group];
    indices_.resize(ends_[groups]);
    // Filling moves each group's entry from its beginning to its end, which is where the next group begins.
    for (std::size_t i = 0; i < count; ++i) {
      if (const std::size_t group = group_of(i); group < groups) indices_[ends_[group]++] = static_cast<std::uint32_t>(i);
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t group) const {
    const std::size_t begin = group == 0 ? 0 : ends_[group - 1];
    return std::span(indices_).subspan(begin, ends_[group] - begin);
  }
  [[nodiscard]] std::size_t groups() const { return ends_.size() - 1; }

 private:
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint32_t> indices_;
};

}  // namespace dlkprof::model
