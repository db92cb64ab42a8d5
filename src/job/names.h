// Lists of names that rows of ranks refer to, and rows that move from the lists of one file to those of another.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "job/rank.h"

namespace dlkprof::job {

// Sorted, each once.
struct Names {
  std::vector<OpName> ops;
  std::vector<std::string> metrics, kinds;
};

// Names that rows use, of all that there are.
class UsedNames {
 public:
  // `names`: what the rows of `rank` refer to.
  void add(const Rank& rank, const Names& names);
  [[nodiscard]] Names lists() const;

 private:
  std::set<OpName> ops_;
  std::set<std::string> metrics_, kinds_;
};

// From one set of lists to another.
class Renaming {
 public:
  Renaming(const Names& from, const Names& to);
  // Rows of a rank, all of whose names are in both. They are in order afterwards.
  void apply(Rank& rank) const;

 private:
  std::vector<std::uint32_t> ops_, metrics_, kinds_;  // places in `to`; kNone: not there
};

}  // namespace dlkprof::job
