#include "model/fold/compiled_paths.h"

#include <algorithm>
#include <array>
#include <string>

namespace dlkprof::model {
namespace {

// Beginnings of names of ranges around compiled code: torch/_dynamo/eval_frame.py, torch/_functorch/_aot_autograd and
// torch/_inductor/output_code.py.
constexpr std::array<std::string_view, 6> kCompilerRanges{"Torch-Compiled Region", "TorchDynamo ",     "AOTDispatcher ",
                                                          "Pregraph bytecode",     "CompiledFunction", "## Call CompiledFxGraph"};
constexpr std::string_view kModule = "module";

}  // namespace

bool CompiledPaths::is_of_compiler(std::uint32_t range) {
  const std::uint32_t name = markers_.signature(range).name;
  if (name >= of_compiler_.size()) of_compiler_.resize(texts_.size());
  if (of_compiler_[name] == 0) {
    const std::string_view text = texts_[name];
    const bool is = std::any_of(kCompilerRanges.begin(), kCompilerRanges.end(),
                                [&](std::string_view prefix) { return text.starts_with(prefix); });
    of_compiler_[name] = is ? 2 : 1;
  }
  return of_compiler_[name] == 2;
}

std::uint32_t CompiledPaths::module_of(const CompiledLaunches::Unit& unit, std::uint32_t graph_range, const PathsSoFar& paths) {
  std::uint32_t range = paths.forward[graph_range];
  if (range == kNone) range = graph_range;
  while (range != kNone && is_of_compiler(range)) range = paths.named_parent[range];
  const CompiledLaunch& launch = *unit.launch;
  std::uint32_t node = range == kNone ? OpTree::kRoot : paths.node[range];
  // Where a wrapper was compiled, as of a decorator, its class says what is around it.
  const bool is_module = range != kNone && texts_[markers_.signature(range).type] == kModule;
  const bool is_around = is_module && (launch.root_is_called || texts_[markers_.signature(range).name] == launch.root);
  if (!is_around) node = child(node, launch.root);
  std::string_view module = launch.module;
  while (!module.empty()) {
    const std::size_t end = std::min(module.find('/'), module.size());
    node = child(node, module.substr(0, end));
    module.remove_prefix(std::min(end + 1, module.size()));
  }
  return node;
}

// As modules are called that are called by themselves (marker_pytorch.cpp).
std::uint32_t CompiledPaths::child(std::uint32_t node, std::string_view names) {
  if (names.empty()) return node;
  std::string name(names);
  std::replace(name.begin(), name.end(), '.', '/');
  return tree_.child(node, texts_.intern(name), 1);
}

}  // namespace dlkprof::model
