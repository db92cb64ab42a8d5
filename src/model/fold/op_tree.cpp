#include "model/fold/op_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dlkprof::model {

std::size_t OpTree::EdgeHash::operator()(const Edge& edge) const noexcept {
  // Multipliers as of splitmix64: any odd numbers without pattern do.
  std::uint64_t hash = (std::uint64_t{edge.parent} << 32U | edge.name) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ hash >> 29U ^ edge.repetition) * 0x94d049bb133111ebU;
  return hash ^ hash >> 32U;
}

std::uint32_t OpTree::child(std::uint32_t parent, std::uint32_t name, std::uint32_t repetition) {
  if (nodes_[parent].cut) return parent;
  const Edge edge{parent, name, repetition};
  if (const auto known = edges_.find(edge); known != edges_.end()) return known->second;

  const std::string& text = texts_[name];
  std::string path = nodes_[parent].path;
  if (!text.starts_with('/')) path += '/';
  path += text;
  if (repetition > 1) path += fmt::format("({})", repetition);
  if (is_too_deep(parent, path)) return cut_in(parent);
  const std::uint32_t node = find(parent, std::move(path));
  edges_.emplace(edge, node);
  return node;
}

std::uint32_t OpTree::grafted(std::uint32_t parent, std::uint32_t node) {
  if (nodes_[parent].cut) return parent;
  const std::size_t before = nodes_[nodes_[node].parent].path.size();
  std::string path = nodes_[parent].path + nodes_[node].path.substr(std::min(before, nodes_[node].path.size()));
  return is_too_deep(parent, path) ? cut_in(parent) : find(parent, std::move(path));
}

bool OpTree::is_too_deep(std::uint32_t parent, const std::string& path) const {
  return path.size() > kMaxOpPath || nodes_[parent].depth + 1 >= kMaxOpDepth || bytes_ > kMaxOpPathsBytes;
}

std::uint32_t OpTree::cut_in(std::uint32_t parent) {
  const std::uint32_t node = find(parent, nodes_[parent].path + "/...");
  nodes_[node].cut = true;
  return node;
}

// By their path, since names may hold slashes and numbers: what reads the same is the same.
std::uint32_t OpTree::find(std::uint32_t parent, std::string path) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  constexpr std::size_t kAround = 256;  // what a node takes besides its path, in all tables together
  bytes_ += path.size() + kAround;
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({std::move(path), parent, nodes_[parent].depth + 1});
  by_path_.emplace(nodes_.back().path, node);
  return node;
}

}  // namespace dlkprof::model
