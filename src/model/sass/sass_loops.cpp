#include "model/sass/sass_loops.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace dlkprof::model {
namespace {

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();
// Far above what compilers make; hostile code shall not take minutes.
constexpr std::size_t kMostBlocks = 20'000, kMostLoops = 256, kMostFlowSteps = 100'000'000;

// --- Instructions ------------------------------------------------------------------------------------------------------

std::string_view without_predicate(std::string_view text) {
  if (!text.starts_with('@')) return text;
  const std::size_t space = text.find(' ');
  text = space == std::string_view::npos ? std::string_view() : text.substr(space);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

bool is_opcode(std::string_view words, std::string_view name) {
  return words.starts_with(name) && (words.size() == name.size() || words[name.size()] == ' ' || words[name.size()] == '.');
}

bool is_branch(std::string_view words) {
  return is_opcode(words, "BRA") || is_opcode(words, "BRX") || is_opcode(words, "JMP") || is_opcode(words, "JMX") ||
         is_opcode(words, "WARPSYNC");
}

// Whether the next instruction may follow.
bool falls_through(std::string_view text) {
  const std::string_view words = without_predicate(text);
  if (words.size() != text.size()) return true;
  if (words.starts_with("BRA ")) return words.find(',') != std::string_view::npos;  // by a predicate among its operands
  for (const char* last : {"EXIT", "RET", "JMP", "BRX", "JMX", "KILL"}) {
    if (is_opcode(words, last)) return false;
  }
  return true;
}

// The labels that it names: "BRA `(.L_x_0)", "CALL.REL.NOINC `($k$f)", and of indirect branches, where nvdisasm found them out,
// several.
std::vector<std::string> labels_in(std::string_view words) {
  constexpr std::string_view kOfName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
  std::vector<std::string> labels;
  for (std::size_t at = words.find_first_of(".$"); at != std::string_view::npos; at = words.find_first_of(".$", at)) {
    const std::size_t end = std::min(words.find_first_not_of(kOfName, at), words.size());
    labels.emplace_back(words.substr(at, end - at));
    at = end;
  }
  return labels;
}

// --- Blocks ------------------------------------------------------------------------------------------------------------

// Instructions that are only run one after another, [first, end) by their index.
struct Block {
  std::size_t first = 0, end = 0;
  std::vector<std::size_t> next, before;
};

class FlowGraph {
 public:
  FlowGraph(const SassFunction& function, const std::map<std::string, std::uint64_t>& labels)
      : instructions_(function.instructions), labels_(labels) {
    find_targets();
    cut_blocks();
    if (blocks_.size() <= kMostBlocks) {
      connect();
    } else {
      blocks_.clear();
    }
  }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

 private:
  void find_targets();
  void cut_blocks();
  void connect();
  void add_edge(std::size_t from, std::size_t to) {
    blocks_[from].next.push_back(to);
    blocks_[to].before.push_back(from);
  }

  const std::vector<SassInstruction>& instructions_;
  const std::map<std::string, std::uint64_t>& labels_;
  std::vector<std::vector<std::size_t>> targets_;  // of each instruction, by index
  std::vector<std::size_t> called_;                // what calls name
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_of_;
};

void FlowGraph::find_targets() {
  targets_.resize(instructions_.size());
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const std::string_view words = without_predicate(instructions_[i].text);
    const bool calls = is_opcode(words, "CALL");
    if (!calls && !is_branch(words)) continue;
    for (const std::string& label : labels_in(words)) {
      const auto offset = labels_.find(label);
      if (offset == labels_.end()) continue;
      const auto target = std::lower_bound(instructions_.begin(), instructions_.end(), offset->second,
                                           [](const SassInstruction& one, std::uint64_t at) { return one.offset < at; });
      if (target == instructions_.end()) continue;
      (calls ? called_ : targets_[i]).push_back(static_cast<std::size_t>(target - instructions_.begin()));
    }
  }
}

void FlowGraph::cut_blocks() {
  std::vector<bool> begins(instructions_.size());
  for (const std::size_t called : called_) begins[called] = true;
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    for (const std::size_t target : targets_[i]) begins[target] = true;
    const bool ends = !targets_[i].empty() || !falls_through(instructions_[i].text);
    if (ends && i + 1 < instructions_.size()) begins[i + 1] = true;
  }
  block_of_.resize(instructions_.size());
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (i == 0 || begins[i]) blocks_.push_back({i, i, {}, {}});
    blocks_.back().end = i + 1;
    block_of_[i] = blocks_.size() - 1;
  }
}

// What is called comes after the first block, so that it is reached, and returns to nothing, so that it is in no loop of its
// caller's.
void FlowGraph::connect() {
  for (const std::size_t called : called_) add_edge(0, block_of_[called]);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const std::size_t last = blocks_[block].end - 1;
    for (const std::size_t target : targets_[last]) add_edge(block, block_of_[target]);
    if (falls_through(instructions_[last].text) && block + 1 < blocks_.size()) add_edge(block, block + 1);
  }
}

// --- Dominators --------------------------------------------------------------------------------------------------------

// After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
class Dominators {
 public:
  explicit Dominators(const std::vector<Block>& blocks) : blocks_(blocks), number_(blocks.size(), kUnknown) {
    order_blocks();
    settle();
  }
  // Blocks that can be reached from the first, each before those that it dominates.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  [[nodiscard]] bool reaches(std::size_t block) const { return number_[block] != kUnknown; }
  [[nodiscard]] bool dominates(std::size_t above, std::size_t block) {
    std::size_t at = number_[block];
    for (; at > number_[above] && steps_ < kMostFlowSteps; ++steps_) at = parent_[at];
    return at == number_[above];
  }

 private:
  void order_blocks();
  void settle();
  [[nodiscard]] std::size_t meet(std::size_t a, std::size_t b);

  const std::vector<Block>& blocks_;
  std::vector<std::size_t> number_, order_;  // of each block its place in `order_`, and back
  std::vector<std::size_t> parent_;          // the immediate dominator, by numbers
  std::size_t steps_ = 0;
};

// Reverse postorder.
void Dominators::order_blocks() {
  if (blocks_.empty()) return;
  std::vector<std::pair<std::size_t, std::size_t>> path{{0, 0}};  // a block, and which of those after it comes next
  std::vector<bool> seen(blocks_.size());
  seen[0] = true;
  while (!path.empty()) {
    auto& [block, next] = path.back();
    if (next == blocks_[block].next.size()) {
      order_.push_back(block);
      path.pop_back();
      continue;
    }
    const std::size_t after = blocks_[block].next[next++];
    if (!seen[after]) {
      seen[after] = true;
      path.emplace_back(after, 0);
    }
  }
  std::reverse(order_.begin(), order_.end());
  for (std::size_t i = 0; i < order_.size(); ++i) number_[order_[i]] = i;
}

std::size_t Dominators::meet(std::size_t a, std::size_t b) {
  while (a != b) {
    std::size_t& later = a > b ? a : b;
    later = parent_[later];
    ++steps_;
  }
  return a;
}

void Dominators::settle() {
  parent_.assign(order_.size(), kUnknown);
  if (order_.empty()) return;
  parent_[0] = 0;
  for (bool changed = true; changed && steps_ < kMostFlowSteps;) {
    changed = false;
    for (std::size_t i = 1; i < order_.size() && steps_ < kMostFlowSteps; ++i) {
      std::size_t above = kUnknown;
      for (const std::size_t before : blocks_[order_[i]].before) {
        const std::size_t from = number_[before];
        if (from == kUnknown || parent_[from] == kUnknown) continue;
        above = above == kUnknown ? from : meet(above, from);
      }
      changed = changed || parent_[i] != above;
      parent_[i] = above;
    }
  }
  if (steps_ >= kMostFlowSteps) order_.clear();
}

// --- Loops -------------------------------------------------------------------------------------------------------------

struct BlockLoop {
  std::size_t head = 0;
  std::set<std::size_t> blocks;
};

// The blocks from which `from` is reached without passing the loop's head.
void add_body(const std::vector<Block>& blocks, const Dominators& dominators, std::size_t from, BlockLoop& loop) {
  std::vector<std::size_t> waiting{from};
  while (!waiting.empty()) {
    const std::size_t block = waiting.back();
    waiting.pop_back();
    if (!dominators.reaches(block) || !loop.blocks.insert(block).second) continue;
    waiting.insert(waiting.end(), blocks[block].before.begin(), blocks[block].before.end());
  }
}

// The larger first, so that each comes after those around it.
std::vector<BlockLoop> loops_of(const std::vector<Block>& blocks) {
  Dominators dominators(blocks);
  std::vector<BlockLoop> loops;
  for (const std::size_t head : dominators.order()) {
    BlockLoop loop{head, {head}};
    bool is_loop = false;
    for (const std::size_t from : blocks[head].before) {
      if (!dominators.reaches(from) || !dominators.dominates(head, from)) continue;
      is_loop = true;
      add_body(blocks, dominators, from, loop);
    }
    if (is_loop) loops.push_back(std::move(loop));
    if (loops.size() == kMostLoops) break;
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const BlockLoop& a, const BlockLoop& b) { return a.blocks.size() > b.blocks.size(); });
  return loops;
}

}  // namespace

void find_loops(SassFunction& function, const std::map<std::string, std::uint64_t>& labels) {
  const FlowGraph graph(function, labels);
  const std::vector<BlockLoop> loops = loops_of(graph.blocks());
  std::vector<std::uint32_t> loop_of(graph.blocks().size(), kNoLoop);
  for (const BlockLoop& loop : loops) {
    const auto index = static_cast<std::uint32_t>(function.loops.size());
    SassLoop& made = function.loops.emplace_back();
    made.head = function.instructions[graph.blocks()[loop.head].first].offset;
    made.last = function.instructions[graph.blocks()[*loop.blocks.rbegin()].end - 1].offset;
    made.around = loop_of[loop.head];
    for (const std::size_t block : loop.blocks) loop_of[block] = index;
  }
  for (std::size_t block = 0; block < graph.blocks().size(); ++block) {
    for (std::size_t i = graph.blocks()[block].first; i < graph.blocks()[block].end; ++i)
      function.instructions[i].loop = loop_of[block];
  }
}

}  // namespace dlkprof::model
