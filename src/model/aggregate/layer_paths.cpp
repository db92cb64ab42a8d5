#include "model/aggregate/layer_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace dlkprof::model {
namespace {

constexpr std::string_view kModuleType = "module";
// Ranges of torch.compile, inside of which there are no modules any more: ops are told apart by type there.
constexpr std::string_view kCompiled = "/CompiledFunction";
constexpr std::string_view kCompiledGraph = "CompiledFxGraph";
constexpr std::size_t kMostNumbersListed = 4;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "Decoder(2)" -> "Decoder"
std::string_view without_repetition(std::string_view name) {
  if (!name.ends_with(')')) return name;
  std::size_t digits = name.size() - 1;
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  const bool is_repetition = digits + 1 < name.size() && digits > 1 && name[digits - 1] == '(';
  return is_repetition ? name.substr(0, digits - 1) : name;
}

// "block3" -> "block"
std::string_view without_number(std::string_view name) {
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name;
}

// The tree of places that launch anything. A parent comes before its children.
class Places {
 public:
  Places() { nodes_.emplace_back(); }

  // The place at a path of components with "/" before each; `is_module`: its last component is a module's name too.
  std::uint32_t add(std::string_view path, bool is_module) {
    std::uint32_t node = 0;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find('/', 1), path.size());
      const std::string_view name = path.substr(0, end);
      path.remove_prefix(end);
      node = child(node, without_repetition(name));
      nodes_[node].repeated |= without_repetition(name).size() < name.size();
    }
    nodes_[node].is_op |= !is_module;
    return node;
  }
  void add_op(std::uint32_t node, const Op& op) {
    if (op.direction != Direction::bprop) nodes_[node].ops.insert(op.type + '\n' + op.input_shapes);
  }
  // To be called when all have been added.
  void fold() {
    find_structures();
    for (Node& node : nodes_) name_children(node);
    for (std::size_t i = 1; i < nodes_.size(); ++i) describe(nodes_[i]);
  }

  [[nodiscard]] const LayerPath& path(std::uint32_t node) const { return nodes_[node].path; }

 private:
  struct Node {
    std::uint32_t parent = 0, structure = 0;
    std::uint32_t below = kNone;  // how far below the last number folded; kNone: there is none
    bool repeated = false, is_op = false, folded = false;
    std::string name, shown;  // with "/" before them
    std::map<std::string_view, std::uint32_t> children;
    std::set<std::string> ops;
    std::string own_path;
    LayerPath path;
  };

  std::uint32_t child(std::uint32_t parent, std::string_view name) {
    if (const auto known = nodes_[parent].children.find(name); known != nodes_[parent].children.end()) return known->second;
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.parent = parent;
    node.shown = node.name = name;
    nodes_[parent].children.emplace(node.name, made);
    return made;
  }

  // Numbers what nodes hold, so that those with the same number hold the same.
  void find_structures() {
    std::unordered_map<std::string, std::uint32_t> known;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      std::string held;
      for (const std::string& op : nodes_[i].ops) held += op + '\0';
      for (const auto& [name, number] : nodes_[i].children) held += fmt::format("{}\1{}\1", name, nodes_[number].structure);
      nodes_[i].structure = known.try_emplace(std::move(held), static_cast<std::uint32_t>(known.size())).first->second;
    }
  }

  void name_children(const Node& parent) {
    // By name without number, then by structure.
    std::map<std::string_view, std::map<std::uint32_t, std::vector<std::uint32_t>>> alike;
    for (const auto& [name, child] : parent.children) {
      const std::string_view stem = without_number(name);
      if (stem.size() < name.size() && !nodes_[child].is_op) alike[stem][nodes_[child].structure].push_back(child);
    }
    for (auto& [stem, classes] : alike) {
      std::erase_if(classes, [](const auto& one) { return one.second.size() < 2; });
      for (const auto& [structure, children] : classes) {
        const std::string number = classes.size() == 1 ? "*" : numbers_of(children, stem.size());
        for (const std::uint32_t child : children) {
          nodes_[child].folded = true;
          nodes_[child].shown = std::string(stem) + number;
        }
      }
    }
  }

  // "{0,2,4}"; long lists are cut.
  [[nodiscard]] std::string numbers_of(const std::vector<std::uint32_t>& children, std::size_t stem) const {
    std::vector<std::string> numbers;
    for (const std::uint32_t child : children) numbers.push_back(nodes_[child].name.substr(stem));
    const auto order = [](const std::string& number) { return std::pair(number.size(), number); };
    std::sort(numbers.begin(), numbers.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
    const bool cut = numbers.size() > kMostNumbersListed;
    if (cut) numbers.resize(kMostNumbersListed);
    return fmt::format("{{{}{}}}", fmt::join(numbers, ","), cut ? ",..." : "");
  }

  void describe(Node& node) {
    const Node& parent = nodes_[node.parent];
    node.own_path = parent.own_path + node.name;
    node.below = node.folded ? 0 : parent.below == kNone ? kNone : parent.below + 1;
    node.path.module = parent.path.module + node.shown + (node.repeated ? "(*)" : "");
    node.path.layer = node.below == kNone || node.below <= 1 ? node.path.module : parent.path.layer;
    node.path.which = node.folded ? node.own_path : parent.path.which;
  }

  std::deque<Node> nodes_;  // a deque, since `children` points into names
};

// Finds the part of an op's path that says where it lies.
class Scopes {
 public:
  explicit Scopes(const Fold& fold) {
    for (const Op& op : fold.ops) {
      if (op.framework != Framework::none && op.type == kModuleType) modules_.insert(op.name);
      if (!op.module.empty()) modules_.insert(op.module);
      if (op.framework == Framework::pytorch) pytorch_.insert(op.name);
    }
  }
  // None where no module is around it.
  [[nodiscard]] std::optional<std::string_view> module_of(std::string_view path) const {
    for (std::size_t end = path.size(); end != std::string_view::npos && end > 0; end = path.rfind('/', end - 1)) {
      if (modules_.contains(path.substr(0, end))) return path.substr(0, end);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string_view outermost_op(std::string_view path) const {
    for (std::size_t end = path.find('/', 1); end != std::string_view::npos; end = path.find('/', end + 1)) {
      if (pytorch_.contains(path.substr(0, end))) return path.substr(0, end);
    }
    return path;
  }

 private:
  std::unordered_set<std::string_view> modules_, pytorch_;
};

// "" outside of what torch.compile made.
std::string compiled_type(std::string_view below_module, const Op& op) {
  if (below_module.find(kCompiled) == std::string_view::npos) return "";
  return fmt::format("{}/{}", kCompiled, op.type.find(kCompiledGraph) == std::string::npos ? op.type : kCompiledGraph);
}

}  // namespace

std::vector<LayerPath> find_layer_paths(const Fold& fold, const std::vector<OpRow>& rows) {
  const Scopes scopes(fold);
  Places places;
  std::vector<std::uint32_t> node_of(rows.size());
  std::vector<std::string> compiled(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].launches()) continue;
    const Op& op = fold.ops[rows[i].op];
    const auto module = scopes.module_of(op.name);
    const std::string_view scope = module ? *module : scopes.outermost_op(op.name);
    if (module) compiled[i] = compiled_type(std::string_view(op.name).substr(scope.size()), op);
    node_of[i] = places.add(scope, module.has_value());
    // What is fused into a kernel differs from one layer to the next.
    if (compiled[i].empty() && op.module.empty()) places.add_op(node_of[i], op);
  }
  places.fold();
  std::vector<LayerPath> paths(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].launches()) continue;
    paths[i] = places.path(node_of[i]);
    paths[i].module += compiled[i];
    paths[i].layer += compiled[i];
  }
  return paths;
}

}  // namespace dlkprof::model
