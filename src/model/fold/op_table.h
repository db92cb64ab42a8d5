// Unique operations: instances of one name, type, direction and framework are one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/fold/fold.h"
#include "model/fold/op_tree.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// What makes an op.
struct OpKey {
  std::uint32_t node = 0;  // of OpTree
  std::uint32_t type = 0;  // of TextTable
  Direction direction = Direction::none;
  Framework framework = Framework::none;
  friend bool operator==(const OpKey&, const OpKey&) = default;
};

class OpTable {
 public:
  // The op of an instance. Ops are numbered in the order of their first instances; `range` is that one's, or kNone.
  std::uint32_t find(const OpKey& key, std::uint32_t range);
  void set_not_leaf(std::uint32_t op) { leaf_[op] = false; }

  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  [[nodiscard]] const OpKey& key(std::uint32_t op) const { return keys_[op]; }

  // Fills Fold::ops and groups.
  void describe(const Timeline& timeline, const OpTree& tree, const TextTable& texts, Fold& fold) const;

 private:
  struct KeyHash {
    std::size_t operator()(const OpKey& key) const noexcept;
  };

  std::unordered_map<OpKey, std::uint32_t, KeyHash> ops_;
  std::vector<OpKey> keys_;
  std::vector<std::uint32_t> first_range_;
  std::vector<bool> leaf_;
};

}  // namespace dlkprof::model
