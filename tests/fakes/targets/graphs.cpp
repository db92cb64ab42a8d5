#include "targets/graphs.h"

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

class GraphedNetwork {
 public:
  explicit GraphedNetwork(Entry entry) : stream_(new_stream()), training_(entry, stream_) {}

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
  static CUstream new_stream() {
    CUstream stream = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }

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
