#include "model/fold/op_table.h"

#include <fmt/format.h>

#include <array>
#include <unordered_set>
#include <utility>

#include "model/fold/call_sites.h"
#include "model/markers/marker.h"
#include "model/timeline/message.h"

namespace dlkprof::model {
namespace {

const char* direction_suffix(Direction direction) {
  constexpr std::array kSuffixes{"", "_fprop", "_bprop"};
  return kSuffixes.at(static_cast<std::size_t>(direction));
}

// Numbers ids of the same beginning from 1; passes over those that another beginning has led to already ("a_fprop" without
// direction reads as "a" with it).
class OpIds {
 public:
  std::string next(const std::string& beginning) {
    std::uint32_t& number = last_[beginning];
    for (;;) {
      std::string id = fmt::format("{}_{}", beginning, ++number);
      if (taken_.insert(id).second) return id;
    }
  }

 private:
  std::unordered_map<std::string, std::uint32_t> last_;
  std::unordered_set<std::string> taken_;
};

// Nodes that have others below them which are ops, as groups.
class GroupFinder {
 public:
  GroupFinder(const OpTree& tree, std::vector<Group>& groups) : tree_(tree), groups_(groups), of_node_(tree.size(), kNone) {}

  // That which `node` lies in.
  std::uint32_t around(std::uint32_t node) {
    const std::uint32_t parent = tree_.parent(node);
    if (parent == OpTree::kRoot) return kNone;
    if (of_node_[parent] == kNone) {
      const std::uint32_t above = around(parent);  // no deeper than kMaxOpDepth
      of_node_[parent] = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({tree_.path(parent), above});
    }
    return of_node_[parent];
  }
  // That which it is; to be asked when all are found.
  [[nodiscard]] std::uint32_t itself(std::uint32_t node) const { return of_node_[node]; }

 private:
  const OpTree& tree_;
  std::vector<Group>& groups_;
  std::vector<std::uint32_t> of_node_;
};

void describe_origin(const OpOrigin& origin, const OpTree& tree, Op& op) {
  if (origin.module != OpTree::kRoot) op.module = tree.path(origin.module);
  op.made_of = origin.launch->ops;
  if (origin.launch->stack != kNone) op.stack = origin.graph->stacks[origin.launch->stack];
}

// A backward op was written where its forward op was, whose name it has.
void give_stacks_of_forward_ops(std::vector<Op>& ops) {
  std::unordered_map<std::string_view, const std::string*> stacks;
  for (const Op& op : ops) {
    if (op.direction == Direction::fprop && !op.stack.empty()) stacks.try_emplace(op.name, &op.stack);
  }
  for (Op& op : ops) {
    if (op.direction != Direction::bprop || !op.stack.empty()) continue;
    if (const auto stack = stacks.find(op.name); stack != stacks.end()) op.stack = *stack->second;
  }
}

}  // namespace

std::size_t OpTable::KeyHash::operator()(const OpKey& key) const noexcept {
  std::uint64_t hash = (std::uint64_t{key.node} << 32U | key.type) * 0xbf58476d1ce4e5b9U;
  hash ^= hash >> 29U ^ static_cast<std::uint64_t>(key.direction) << 8U ^ static_cast<std::uint64_t>(key.framework);
  hash *= 0x94d049bb133111ebU;
  return hash ^ hash >> 32U;
}

std::uint32_t OpTable::find(const OpKey& key, std::uint32_t range) {
  const auto [known, is_new] = ops_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (is_new) {
    keys_.push_back(key);
    first_range_.push_back(range);
    leaf_.push_back(true);
  }
  return known->second;
}

void OpTable::describe(const Timeline& timeline, const OpTree& tree, const TextTable& texts, Fold& fold) const {
  OpIds ids;
  const CallSites sites(timeline);
  GroupFinder groups(tree, fold.groups);
  fold.ops.reserve(size());
  for (std::uint32_t i = 0; i < size(); ++i) {
    const OpKey& key = keys_[i];
    Op op;
    op.name = tree.path(key.node);
    op.type = texts[key.type];
    op.direction = key.direction;
    op.framework = key.framework;
    op.id = ids.next(op.type + direction_suffix(key.direction));
    op.leaf = leaf_[i];
    op.group = groups.around(key.node);
    if (first_range_[i] != kNone) {
      const Range& range = timeline.ranges[first_range_[i]];
      Marker marker = parse_marker(timeline.strings[range.domain], message_of(timeline, range));
      op.data_types = std::move(marker.data_types);
      op.input_shapes = std::move(marker.shapes);
    }
    if (!sites.empty()) op.stack = sites.stack_of(first_range_[i]);
    if (const auto origin = origins_.find(i); origin != origins_.end()) describe_origin(origin->second, tree, op);
    op.eligible = tensor_core_eligible(op.type, op.data_types);
    fold.ops.push_back(std::move(op));
  }
  for (std::uint32_t i = 0; i < size(); ++i) fold.ops[i].own_group = groups.itself(keys_[i].node);
  if (!sites.empty()) give_stacks_of_forward_ops(fold.ops);
}

}  // namespace dlkprof::model
