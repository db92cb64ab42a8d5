#include "targets/graphs.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "targets/ranges.h"

namespace target {
namespace {

CUcontext context_now() {
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  return context;
}

void on_another_thread(const std::function<void()>& what) {
  std::thread([&, context = context_now()] {
    CHECK(cuCtxSetCurrent(context));
    what();
  }).join();
}

CUgraph capture_graph(CUstream stream, const std::function<void()>& what) {
  CUgraph graph = nullptr;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  what();
  CHECK(cuStreamEndCapture(stream, &graph));
  return graph;
}

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec executable = nullptr;
  const bool for_gpu = std::getenv("FAKE_GRAPHS_FOR_GPU") != nullptr;
  CHECK(cuGraphInstantiateWithFlags(&executable, graph, for_gpu ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0));
  return executable;
}

CUstream make_stream() {
  CUstream stream = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

class GraphedNetwork {
 public:
  explicit GraphedNetwork(Entry entry) : stream_(make_stream()), training_(entry, stream_) {}

  void make() {
    const Range warm_up("warm-up");
    forward();
    CUgraph inner = capture_graph(stream_, [this] { forward(); });
    add_attention(inner);
    CUgraph whole = nullptr;
    CHECK(cuGraphClone(&whole, inner));
    forward_ = instantiate(whole);
    CHECK(cuGraphDestroy(inner));
    CHECK(cuGraphDestroy(whole));
    CUgraph backward = capture_graph(stream_, [this] { on_another_thread([this] { this->backward(); }); });
    backward_ = instantiate(backward);
    CHECK(cuGraphDestroy(backward));
    spoil_a_capture();
  }

  void step() {
    const Range step("step");
    {
      const Range graphed("Graphed, seq = 40, op_id = 90");
      CHECK(cuGraphLaunch(forward_, stream_));
    }
    on_another_thread([this] {
      const Range engine("autograd::engine::evaluate_function: GraphedBackward, op_id = 91");
      const Range node("GraphedBackward, seq = 40, op_id = 92");
      CHECK(cuGraphLaunch(backward_, stream_));
    });
    const Range optimizer("Optimizer.step#SGD.step");
    training_.launch(kAdd);
  }

  // The same kernels with another grid: the nodes of the executable graph stay.
  void update() {
    CUgraph again = capture_graph(stream_, [this] {
      const Range other("captured again");
      training_.launch(kSgemm, 8);
      training_.launch(kRotate, 8);
    });
    CUgraphExecUpdateResultInfo info{};
    CHECK(cuGraphExecUpdate(backward_, again, &info));
    CHECK(cuGraphDestroy(again));
  }

  [[nodiscard]] std::string finish() {
    CHECK(cuStreamSynchronize(stream_));
    CHECK(cuGraphExecDestroy(forward_));
    CHECK(cuGraphExecDestroy(backward_));
    return training_.checksum();
  }

 private:
  void forward() {
    const Range module("dlkprof:module: Net");
    for (int i = 0; i < 2; ++i) {
      const Range linear("aten::linear, seq = " + std::to_string(20 + i) + ", op_id = 1");
      const Range product("aten::addmm, seq = " + std::to_string(20 + i) + ", op_id = 2");
      training_.launch(kNvjet);
    }
    const Range activation("aten::gelu, seq = 22, op_id = 3");
    training_.launch(kAdd);
  }

  // A graph of its own that is captured inside of the op, as XLA does it, and put into the other as a child.
  void add_attention(CUgraph graph) {
    const Range module("dlkprof:module: Net");
    const Range attention("aten::scaled_dot_product_attention, op_id = 4");
    CUgraph child = capture_graph(stream_, [this] {
      const Range flash("aten::_flash_attention_forward, op_id = 5");
      training_.launch(kSgemm);
    });
    CUgraphNode node = nullptr;
    CHECK(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    CHECK(cuGraphDestroy(child));
  }

  // Of the last linear op, and what autograd does behind it.
  void backward() {
    const Range engine("autograd::engine::evaluate_function: AddmmBackward0, op_id = 6");
    {
      const Range node("AddmmBackward0, seq = 21, op_id = 7");
      const Range product("aten::mm, op_id = 8");
      training_.launch(kSgemm);
    }
    const Range sum("aten::sum, op_id = 9");
    training_.launch(kRotate);
  }

  void spoil_a_capture() {
    CUgraph graph = nullptr;
    CUmodule module = nullptr;
    CHECK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    (void)cuModuleLoadData(&module, "an image");
    (void)cuStreamEndCapture(stream_, &graph);
    (void)cuGraphDestroy(graph);
    CUgraphExec none = nullptr;
    (void)cuGraphInstantiateWithFlags(&none, nullptr, 0);
  }

  CUstream stream_;
  Training training_;
  CUgraphExec forward_ = nullptr, backward_ = nullptr;
};

class UpdatedGraph {
 public:
  explicit UpdatedGraph(Entry entry) : captured_(entry, stream_) {
    CHECK(cuMemAlloc(&bytes_, kBytes));
    CHECK(cuMemsetD8(bytes_, 0, kBytes));
    graph_ = capture_graph(stream_, [this] {
      captured_.launch(kAdd);
      captured_.launch(kRotate);
    });
    std::size_t kernels = kernels_.size();
    CHECK(cuGraphGetNodes(graph_, kernels_.data(), &kernels));
    const CUDA_MEMSET_NODE_PARAMS set = set_to(0);
    CHECK(cuGraphAddMemsetNode(&set_, graph_, nullptr, 0, &set, context_now()));
    CUgraph child = capture_graph(stream_, [this] { captured_.launch(kSgemm); });
    CHECK(cuGraphAddChildGraphNode(&child_, graph_, nullptr, 0, child));
    CHECK(cuGraphDestroy(child));
    executable_ = instantiate(graph_);
  }

  void step(int number) {
    if (number > 0) update(number);
    CHECK(cuGraphLaunch(executable_, stream_));
  }

  [[nodiscard]] std::string finish() {
    std::vector<unsigned char> bytes(kBytes);
    CHECK(cuStreamSynchronize(stream_));
    CHECK(cuMemcpyDtoH(bytes.data(), bytes_, kBytes));
    CHECK(cuGraphExecDestroy(executable_));
    CHECK(cuGraphDestroy(graph_));
    std::string text = captured_.checksum();
    for (const unsigned char byte : bytes) text += " " + std::to_string(byte);
    return text;
  }

 private:
  static constexpr std::size_t kBytes = 8;

  [[nodiscard]] CUDA_MEMSET_NODE_PARAMS set_to(int number) const {
    const auto at = static_cast<std::size_t>(number) % kBytes;
    return {.dst = bytes_ + at, .value = static_cast<unsigned>(number), .elementSize = 1, .width = 1, .height = 1};
  }

  // What one adds to the other is added the other way round; every third step has a larger grid.
  void update(int number) {
    for (CUgraphNode kernel : kernels_) {
      CUDA_KERNEL_NODE_PARAMS params{};
      CHECK(cuGraphKernelNodeGetParams(kernel, &params));
      std::array arguments{params.kernelParams[number % 2], params.kernelParams[1 - number % 2], params.kernelParams[2]};
      params.kernelParams = arguments.data();
      if (number % 3 == 2) params.gridDimX = 8;
      CHECK(cuGraphExecKernelNodeSetParams(executable_, kernel, &params));
    }
    const CUDA_MEMSET_NODE_PARAMS set = set_to(number);
    CHECK(cuGraphExecMemsetNodeSetParams(executable_, set_, &set, context_now()));
    CUgraph child = capture_graph(stream_, [&] { captured_.launch(kSgemm, number % 2 == 0 ? 4 : 8); });
    CHECK(cuGraphExecChildGraphNodeSetParams(executable_, child_, child));
    CHECK(cuGraphDestroy(child));
  }

  CUstream stream_ = make_stream();
  Training captured_;
  CUdeviceptr bytes_ = 0;
  CUgraph graph_ = nullptr;
  std::array<CUgraphNode, 2> kernels_{};
  CUgraphNode set_ = nullptr, child_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace

std::string train_in_graphs(Entry entry, int steps) {
  GraphedNetwork network(entry);
  network.make();
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 2) network.update();
    network.step();
  }
  return network.finish();
}

std::string train_in_an_updated_graph(Entry entry, int steps) {
  UpdatedGraph network(entry);
  for (int i = 0; i < steps; ++i) network.step(i);
  return network.finish();
}

std::string train_in_a_built_graph(Entry entry, int launches) {
  CUstream stream = make_stream();
  Training training(entry, stream);
  CUgraph graph = nullptr;
  CHECK(cuGraphCreate(&graph, 0));
  for (const char* kernel : {kAdd, kRotate, kAdd}) training.add_to(graph, kernel);
  CUgraphExec executable = instantiate(graph);
  CHECK(cuGraphDestroy(graph));
  for (int i = 0; i < launches; ++i) CHECK(cuGraphLaunch(executable, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuGraphExecDestroy(executable));
  return training.checksum();
}

namespace {

void set_as_it_is(CUgraphExec executable, CUgraph graph) {
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  CUDA_KERNEL_NODE_PARAMS params{};
  CHECK(cuGraphGetNodes(graph, &node, &count));
  CHECK(cuGraphKernelNodeGetParams(node, &params));
  CHECK(cuGraphExecKernelNodeSetParams(executable, node, &params));
}

std::string train_in_growing(Entry entry, int rounds, bool set_by_node) {
  constexpr int kLaunches = 200;
  CUstream stream = make_stream();
  Training training(entry, stream);
  CUgraphExec executable = nullptr;
  for (int round = 0; round < rounds; ++round) {
    CUgraph graph = capture_graph(stream, [&] {
      training.launch(kSgemm, 4U + static_cast<unsigned>(round) / 2);
      training.launch(kRotate);
    });
    CUgraphExecUpdateResultInfo info{};
    if (round == 0) executable = instantiate(graph);
    if (round > 0) CHECK(cuGraphExecUpdate(executable, graph, &info));
    for (int i = 0; i < kLaunches; ++i) CHECK(cuGraphLaunch(executable, stream));
    if (set_by_node && round == 0) set_as_it_is(executable, graph);
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamSynchronize(stream));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(cuGraphExecDestroy(executable));
  return training.checksum();
}

}  // namespace

std::string train_in_a_growing_graph(Entry entry, int rounds) { return train_in_growing(entry, rounds, false); }
std::string train_in_a_growing_set_graph(Entry entry, int rounds) { return train_in_growing(entry, rounds, true); }

std::string capture_side_by_side(Entry entry, int threads, int launches) {
  std::vector<std::thread> all;
  std::latch together(threads);
  const CUcontext context = context_now();
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      CHECK(cuCtxSetCurrent(context));
      CUstream stream = nullptr;
      CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      Training training(entry, stream);
      together.arrive_and_wait();
      CUgraph graph = capture_graph(stream, [&] {
        for (int i = 0; i < 20; ++i) {
          const Range op("op_" + std::to_string(thread));
          training.launch(kAdd);
        }
      });
      CUgraphExec executable = instantiate(graph);
      CHECK(cuGraphDestroy(graph));
      const Range serve("serve_" + std::to_string(thread));
      for (int i = 0; i < launches; ++i) CHECK(cuGraphLaunch(executable, stream));
      CHECK(cuStreamSynchronize(stream));
    });
  }
  for (auto& thread : all) thread.join();
  return "done";
}

}  // namespace target
