#include "model/fold/op_paths.h"

#include <array>
#include <span>
#include <unordered_map>
#include <utility>

#include "model/aggregate/grouped_indices.h"

namespace dlkprof::model {
namespace {

// Of each range the innermost one around it that counts and, where `names_only`, is named in paths.
std::vector<std::uint32_t> find_parents(const Timeline& timeline, const RangeMarkers& markers, bool names_only) {
  std::vector<std::uint32_t> parents;
  parents.reserve(timeline.ranges.size());
  for (const Range& range : timeline.ranges) {
    const std::uint32_t parent = range.parent;
    const bool taken =
        parent != kNone && markers.counts(parent) && !(names_only && markers.signature(parent).kind == MarkerKind::machinery);
    // A parent stands before its children, so what is around it is known by now.
    parents.push_back(parent == kNone || taken ? parent : parents[parent]);
  }
  return parents;
}

// Tells siblings of the same name apart by numbering them.
class SiblingNumbers {
 public:
  SiblingNumbers(const Timeline& timeline, const RangeMarkers& markers, const IterationSplit& split)
      : timeline_(timeline), markers_(markers), split_(split), numbers_(timeline.ranges.size(), 1) {}

  // From 1, for each range. Siblings at the root are those of one thread. They are counted anew in each iteration, and so are
  // those in a range that holds whole iterations, such as an epoch: each iteration's ops are to have the same names.
  std::vector<std::uint32_t> number(std::span<const std::uint32_t> parents) {
    const std::size_t ranges = parents.size();
    const GroupedIndices siblings(ranges, ranges + timeline_.threads.size(), [&](std::size_t i) {
      const auto range = static_cast<std::uint32_t>(i);
      if (!markers_.counts(range)) return static_cast<std::size_t>(kNone);
      return parents[range] == kNone ? ranges + timeline_.ranges[range].thread : std::size_t{parents[range]};
    });
    for (std::size_t group = 0; group < siblings.groups(); ++group) {
      if (siblings[group].size() > 1) number_siblings(siblings[group], group >= ranges);
    }
    return std::move(numbers_);
  }

 private:
  void number_siblings(std::span<const std::uint32_t> siblings, bool at_root) {
    std::uint32_t iteration = split_.at(start_of(siblings.front()));
    const bool renew = at_root || split_.at(start_of(siblings.back())) >= iteration + 2;
    ++round_;
    for (const std::uint32_t range : siblings) {
      const std::uint32_t before = iteration;
      if (renew) split_.advance(iteration, start_of(range));
      if (iteration != before) ++round_;
      numbers_[range] = count(markers_.signature(range).name);
    }
  }

  std::uint32_t count(std::uint32_t name) {
    if (name >= counts_.size()) counts_.resize(std::size_t{name} + 1);
    Count& count = counts_[name];
    if (std::exchange(count.round, round_) != round_) count.n = 0;
    return ++count.n;
  }

  [[nodiscard]] std::int64_t start_of(std::uint32_t range) const { return timeline_.ranges[range].start_ns; }

  const Timeline& timeline_;
  const RangeMarkers& markers_;
  const IterationSplit& split_;
  std::vector<std::uint32_t> numbers_;
  // Of each name how often it came in the round of counting that it last came in: emptied without touching it.
  struct Count {
    std::uint64_t round = 0;
    std::uint32_t n = 0;
  };
  std::vector<Count> counts_;
  std::uint64_t round_ = 0;
};

// Joins backward ranges to the forward range that carries the same sequence number. Those numbers are counted by thread and
// begin anew with it, and nothing says of which thread one is: the nearest earlier one of the process is taken. Of nested ones
// the innermost, which is the one that autograd recorded (those around it carry the number that was next when they began).
class ForwardRanges {
 public:
  ForwardRanges(const Timeline& timeline, const RangeMarkers& markers) : timeline_(timeline), markers_(markers) {}

  // Ranges are to come in their order. kNone where `range` is no backward one or its forward range is not known.
  std::uint32_t forward_of(std::uint32_t range) {
    const auto sequence = markers_.sequence(range);
    if (!sequence) return kNone;
    std::uint32_t& latest = latest_of(*sequence, timeline_.threads[timeline_.ranges[range].thread].process);
    if (markers_.signature(range).kind == MarkerKind::backward) return latest;
    latest = range;
    return kNone;
  }

 private:
  // Programs count up and backward passes down, so that the next number is nearly always in the block of the last: of the
  // millions only one in 64 is looked up.
  static constexpr unsigned kBlockBits = 6;
  struct Block {
    Block() { latest.fill(kNone); }
    std::array<std::uint32_t, 1U << kBlockBits> latest;  // ranges
  };
  struct BlockKey {
    std::int64_t first = 0;  // sequence number, by the block's size
    std::uint32_t process = 0;
    friend bool operator==(const BlockKey&, const BlockKey&) = default;
  };
  struct HashBlock {
    std::size_t operator()(const BlockKey& key) const noexcept {
      const std::uint64_t hash =
          (static_cast<std::uint64_t>(key.first) ^ std::uint64_t{key.process} << 48U) * 0x9e3779b97f4a7c15U;
      return hash ^ hash >> 32U;
    }
  };

  std::uint32_t& latest_of(std::int64_t sequence, std::uint32_t process) {
    const BlockKey key{sequence >> kBlockBits, process};
    if (block_ == nullptr || key != block_key_) {
      block_ = &blocks_[key];
      block_key_ = key;
    }
    return block_->latest[static_cast<std::size_t>(sequence) % block_->latest.size()];
  }

  const Timeline& timeline_;
  const RangeMarkers& markers_;
  std::unordered_map<BlockKey, Block, HashBlock> blocks_;
  BlockKey block_key_;  // used last
  Block* block_ = nullptr;
};

class PathFinder {
 public:
  PathFinder(const Timeline& timeline, const RangeMarkers& markers, const IterationSplit& split, const CompiledLaunches& compiled,
             TextTable& texts, OpTree& tree)
      : ranges_(timeline.ranges),
        keeps_parents_(!timeline.graph_nodes.empty() || !compiled.empty()),
        markers_(markers),
        compiled_(compiled),
        compiled_paths_(markers, texts, tree),
        tree_(tree),
        forwards_(timeline, markers),
        named_parent_(find_parents(timeline, markers, true)) {
    if (!all_count()) paths_.parent = find_parents(timeline, markers, false);
    paths_.node = SiblingNumbers(timeline, markers, split).number(named_parent_);  // turned into nodes one by one
    paths_.forward.assign(timeline.ranges.size(), kNone);
    paths_.direction.assign(timeline.ranges.size(), Direction::none);
  }

  OpPaths find() {
    for (std::uint32_t range = 0; range < paths_.node.size(); ++range) {
      if (markers_.counts(range)) place(range);
    }
    if (keeps_parents_) paths_.named_parent = std::move(named_parent_);
    return std::move(paths_);
  }

 private:
  [[nodiscard]] bool all_count() const {
    for (std::uint32_t range = 0; range < ranges_.size(); ++range) {
      if (!markers_.counts(range)) return false;
    }
    return true;
  }

  void place(std::uint32_t range) {
    const std::uint32_t parent = paths_.parent_of(ranges_, range);
    std::uint32_t forward = forwards_.forward_of(range);
    if (forward != kNone && parent != kNone && is_engine(parent)) adopt(parent, forward);
    const bool inherits = forward == kNone && parent != kNone && paths_.forward[parent] != kNone;
    if (inherits) forward = paths_.forward[parent];
    if (forward != kNone) assign(range, forward);
    if (inherits) paths_.node[range] = paths_.node[parent];  // in compiled code, another than that of its forward range
    if (place_compiled(range, parent) || forward != kNone) return;

    const Signature& signature = markers_.signature(range);
    const std::uint32_t around = named_parent_[range];
    paths_.node[range] = tree_.child(around == kNone ? OpTree::kRoot : paths_.node[around], signature.name, paths_.node[range]);
    const bool in_forward = parent != kNone && paths_.direction[parent] == Direction::fprop;
    const bool is_forward = signature.kind != MarkerKind::backward && markers_.sequence(range).has_value();
    if (in_forward || is_forward) paths_.direction[range] = Direction::fprop;
  }

  // Of a range directly within the call of a compiled graph; whether it is known what that was made from.
  bool place_compiled(std::uint32_t range, std::uint32_t parent) {
    const CompiledLaunches::Unit* unit = compiled_.of_range(range);
    if (unit == nullptr) return false;
    const PathsSoFar so_far{named_parent_, paths_.node, paths_.forward};
    paths_.node[range] = tree_.child(compiled_paths_.module_of(*unit, so_far), markers_.signature(range).name, unit->repetition);
    if (paths_.forward[range] == kNone && parent != kNone) paths_.direction[range] = paths_.direction[parent];
    return true;
  }

  // PyTorch's autograd::engine::evaluate_function: it has one backward range inside.
  [[nodiscard]] bool is_engine(std::uint32_t range) const {
    const Signature& signature = markers_.signature(range);
    return signature.framework == Framework::pytorch && signature.kind == MarkerKind::machinery;
  }

  // What the engine does around a backward range, such as summing gradients to their shape, is of the same backward pass.
  void adopt(std::uint32_t engine, std::uint32_t forward) {
    if (paths_.forward[engine] == kNone) assign(engine, forward);
  }

  void assign(std::uint32_t range, std::uint32_t forward) {
    paths_.forward[range] = forward;
    paths_.node[range] = paths_.node[forward];
    paths_.direction[range] = Direction::bprop;
  }

  std::span<const Range> ranges_;
  bool keeps_parents_;
  const RangeMarkers& markers_;
  const CompiledLaunches& compiled_;
  CompiledPaths compiled_paths_;
  OpTree& tree_;
  ForwardRanges forwards_;
  std::vector<std::uint32_t> named_parent_;
  OpPaths paths_;
};

}  // namespace

OpPaths find_op_paths(const Timeline& timeline, const RangeMarkers& markers, const IterationSplit& split,
                      const CompiledLaunches& compiled, TextTable& texts, OpTree& tree) {
  return PathFinder(timeline, markers, split, compiled, texts, tree).find();
}

}  // namespace dlkprof::model
