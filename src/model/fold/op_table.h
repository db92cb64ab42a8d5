// Unique operations: instances of one name, type, direction and framework are one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/fold/compiled_code.h"
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

// What an op of compiled code was made from.
struct OpOrigin {
  const CompiledGraph* graph = nullptr;
  const CompiledLaunch* launch = nullptr;  // null: it is none, or that is not known
  std::uint32_t module = OpTree::kRoot;    // of OpTree
};

class OpTable {
 public:
  // The op of an instance. Ops are numbered in the order of their first instances; `range` is that one's, or kNone.
  std::uint32_t find(const OpKey& key, std::uint32_t range);
  void set_not_leaf(std::uint32_t op) { leaf_[op] = false; }
  void set_origin(std::uint32_t op, const OpOrigin& origin) { origins_.try_emplace(op, origin); }
  // `op` lies within `around`.
  void inherit_origin(std::uint32_t op, std::uint32_t around) {
    if (const auto origin = origins_.find(around); origin != origins_.end()) set_origin(op, OpOrigin(origin->second));
  }

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
  std::unordered_map<std::uint32_t, OpOrigin> origins_;  // by op
};

}  // namespace dlkprof::model
