// The tree of op names: a node is a path such as /net/layer1/conv1(2), which all instances of that name share.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "model/timeline/text_table.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Paths longer or deeper than this end in "/...": a program may nest ranges by the thousand, and all their paths together
// would take memory by the square of that.
inline constexpr std::size_t kMaxOpPath = 4096;  // bytes
inline constexpr std::uint32_t kMaxOpDepth = 128;
// Where all paths together are longer, new ones end in "/..." too.
inline constexpr std::size_t kMaxOpPathsBytes = std::size_t{256} << 20U;

class OpTree {
 public:
  static constexpr std::uint32_t kRoot = 0;

  explicit OpTree(const TextTable& texts) : texts_(texts) { nodes_.emplace_back(); }

  // The node of what is called `name` (of the texts) in `parent`, for the `repetition`th time, from 1.
  std::uint32_t child(std::uint32_t parent, std::uint32_t name, std::uint32_t repetition);
  // The node in `parent` that is called as `node` is in its own.
  std::uint32_t grafted(std::uint32_t parent, std::uint32_t node);
  // A node of its own, outside of all paths.
  std::uint32_t stray(const std::string& path) { return find(kRoot, path); }

  [[nodiscard]] const std::string& path(std::uint32_t node) const { return nodes_[node].path; }
  // kRoot of those at the top.
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    std::string path;
    std::uint32_t parent = kRoot;
    std::uint32_t depth = 0;
    bool cut = false;  // ends in "/...", and so do all below it
  };
  struct Edge {
    std::uint32_t parent = 0, name = 0, repetition = 0;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const noexcept;
  };

  std::uint32_t find(std::uint32_t parent, std::string path);
  [[nodiscard]] bool is_too_deep(std::uint32_t parent, const std::string& path) const;
  std::uint32_t cut_in(std::uint32_t parent);

  const TextTable& texts_;
  std::deque<Node> nodes_;  // a deque, since by_path_ points into its elements
  std::unordered_map<std::string_view, std::uint32_t> by_path_;
  std::unordered_map<Edge, std::uint32_t, EdgeHash> edges_;
  std::size_t bytes_ = 0;
};

}  // namespace dlkprof::model
