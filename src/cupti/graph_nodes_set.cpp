// What the program sets of an executable graph whose nodes are launched one by one.
#include <algorithm>
#include <array>
#include <exception>
#include <functional>

#include "base/error.h"
#include "cupti/graph_nodes.h"

namespace dlkprof::cupti {
namespace {

auto shape_of(const CUDA_KERNEL_NODE_PARAMS_v2& params) {
  return std::array{params.gridDimX,  params.gridDimY,  params.gridDimZ,      params.blockDimX,
                    params.blockDimY, params.blockDimZ, params.sharedMemBytes};
}

}  // namespace

template <typename Set>
bool GraphNodes::follow(Set set) {
  if (!unusable_.empty()) return false;
  try {
    const bool is_other = set();
    if (!unusable_.empty()) refuse(unusable_);
    return is_other;
  } catch (const Error& error) {
    refuse("the program updates it in a way that could not be followed (" + error.detail() + ")");
  } catch (const std::exception&) {
    refuse("the program updates it in a way that could not be followed");
  }
  return false;
}

// A node of a child graph that the program has moved into its parent is named by itself. Which steps are of which node is not
// sure any more once all were set, as the other graph's may come in another order.
CUgraphNode GraphNodes::in_clone(CUgraphNode node) const {
  if (set_.get() != nullptr) throw Error("a node of a graph is not known", "all of it was set before", "");
  CUgraphNode found = nullptr;
  CUresult result = functions_.cuGraphNodeFindInClone(&found, node, clone_.get());
  for (auto child = children_.begin(); result != CUDA_SUCCESS && child != children_.end(); ++child) {
    result = functions_.cuGraphNodeFindInClone(&found, node, child->second.graph);
  }
  check(result, "cuGraphNodeFindInClone");
  return found;
}

GraphNodes::Step& GraphNodes::step_of(CUgraphNode node) {
  if (places_.empty()) {
    for (std::size_t i = 0; i < steps_.size(); ++i) places_.emplace(steps_[i].node, i);
  }
  const auto place = places_.find(in_clone(node));
  if (place == places_.end()) throw Error("a node of a graph is not known", "it was not read", "");
  return steps_[place->second];
}

// By their launch configurations.
bool GraphNodes::are_alike(const Step& one, const Step& other) {
  const auto* const a = std::get_if<Kernel>(&one.what);
  const auto* const b = std::get_if<Kernel>(&other.what);
  if (a == nullptr || b == nullptr) return a == b;
  return a->function == b->function && shape_of(a->params) == shape_of(b->params);
}

std::size_t GraphNodes::shape() const {
  std::size_t all = 0xcbf29ce484222325;  // FNV-1a, by words
  const auto add = [&all](std::size_t word) { all = (all ^ word) * 0x100000001b3; };
  for (const Step& step : steps_) {
    const auto* const kernel = std::get_if<Kernel>(&step.what);
    if (kernel == nullptr) continue;
    add(std::hash<CUfunction>{}(kernel->function));
    for (const unsigned number : shape_of(kernel->params)) add(number);
  }
  return all;
}

// The clone's node gets them too, which copies the arguments.
bool GraphNodes::set(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2& params) {
  return follow([&] {
    Step& step = step_of(node);
    const Step before = step;
    check(functions_.cuGraphKernelNodeSetParams(step.node, &params), "cuGraphKernelNodeSetParams");
    read_parameters(step.node, std::get<Kernel>(step.what));
    return !are_alike(before, step);
  });
}

bool GraphNodes::set(CUgraphNode node, const CUDA_MEMCPY3D& copy) {
  return follow([&] {
    look_at(copy);
    std::get<CUDA_MEMCPY3D>(step_of(node).what) = copy;
    return false;
  });
}

bool GraphNodes::set(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS& memset) {
  return follow([&] {
    std::get<CUDA_MEMSET_NODE_PARAMS>(step_of(node).what) = memset;
    return false;
  });
}

// The steps from one on do what others do.
bool GraphNodes::replace(std::size_t first, const Steps& others) {
  const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first);
  const bool is_other = !std::equal(others.begin(), others.end(), begin, are_alike);
  for (std::size_t i = 0; i < others.size(); ++i) steps_[first + i].what = others[i].what;
  return is_other;
}

bool GraphNodes::set_child(CUgraphNode node, CUgraph child) {
  return follow([&] {
    Child& known = children_.at(in_clone(node));
    Owned made = clone(child);
    const Steps steps = read(made.get());
    if (steps.size() != known.count) throw Error("a child graph was replaced", "by one of another size", "");
    const bool is_other = replace(known.first, steps);
    known.set = std::move(made);
    return is_other;
  });
}

bool GraphNodes::set_all(CUgraph graph) {
  return follow([&] {
    Owned made = clone(graph);
    const Steps steps = read(made.get());
    if (steps.size() != steps_.size()) throw Error("a graph was updated", "to one of another size", "");
    const bool is_other = replace(0, steps);
    set_ = std::move(made);
    return is_other;
  });
}

}  // namespace dlkprof::cupti
