#include "targets/marked.h"

#include <nvtx3/nvToolsExt.h>

#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "targets/ranges.h"
#include "targets/training.h"

namespace target {
namespace {

constexpr std::uint8_t kBatch = 3;

// In a domain of the program's own.
class DomainRange {
 public:
  explicit DomainRange(const char* message) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain(), message);
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  DomainRange(const DomainRange&) = delete;
  DomainRange& operator=(const DomainRange&) = delete;
  ~DomainRange() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static auto* const instance = nvtxDomainCreateA("app");
    return instance;
  }
};

// Autograd's: a forward op that makes a node of its graph gives it the next number.
struct Node {
  const char* name;
  int sequence;
  void (*run)(class Network&);
};

// One step after the other. Ranges are nested as PyTorch 2.11 does it.
class Network {
 public:
  explicit Network(Training& training) : training_(training) {}

  void forward() {
    const Range phase("dlkprof:phase: forward");
    const Range module("dlkprof:module: Net");
    {
      const Range layers("dlkprof:module: features.0");
      conv();
    }
    for (int i = 0; i < 2; ++i) {  // one module, called twice
      const Range shared("dlkprof:module: act");
      relu();
    }
    linear();
  }

  void loss() {
    const Range function("dlkprof:function: loss");
    const auto entropy = op("aten::cross_entropy_loss", sequence_);
    {
      const auto outer = op("aten::log_softmax", sequence_);
      { const auto unchanged = op("aten::to", sequence_); }  // makes no node: the number is still to be had
      const auto inner = op("aten::_log_softmax", sequence_);
      training_.launch(kRotate);
      add_node("LogSoftmaxBackward0", [](Network& net) { net.launch("aten::_log_softmax_backward_data", kRotate); });
    }
  }

  // The nodes in reverse; on another thread than the rest.
  void backward() {
    for (; !nodes_.empty(); nodes_.pop_back()) {
      const Node node = nodes_.back();
      const auto machinery = op(std::string("autograd::engine::evaluate_function: ") + node.name);
      {
        const auto range = op(node.name, node.sequence);
        node.run(*this);
      }
      launch("aten::sum", kRotate);  // of what comes from several ops: autograd's own doing
    }
    for (int i = 0; i < 2; ++i) {  // belongs to no forward op
      const auto machinery = op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
      const auto range = op("torch::autograd::AccumulateGrad");
      launch("aten::add_", kAdd);
    }
  }

  void zero_grad() { const auto range = op("Optimizer.zero_grad#SGD.zero_grad"); }
  void update() {
    const auto range = op("Optimizer.step#SGD.step");
    launch("aten::_foreach_add_", kAdd);
    training_.launch(kAdd);  // by no op of PyTorch's
  }

 private:
  [[nodiscard]] Range op(std::string message, int sequence = -1) {
    if (sequence >= 0) message += ", seq = " + std::to_string(sequence);
    message += ", op_id = " + std::to_string(++op_id_);
    return Range(message + ", sizes = [[4, 3, 32, 32], []], input_op_ids = [(0,-1), (0,-1)]");
  }

  void launch(const char* name, const char* kernel) {
    const auto range = op(name);
    training_.launch(kernel);
  }

  void add_node(const char* name, void (*run)(Network&)) { nodes_.push_back({name, sequence_++, run}); }

  void conv() {
    const auto outer = op("aten::conv2d", sequence_);
    const auto middle = op("aten::convolution", sequence_);
    const auto inner = op("aten::_convolution");
    launch("aten::cudnn_convolution", kCutlass);
    { const auto reshape = op("aten::reshape"); }
    launch("aten::add_", kAdd);
    add_node("ConvolutionBackward0", [](Network& net) {
      const auto range = net.op("aten::convolution_backward");
      for (const auto* kernel : {kCutlass, kNvjet, kCutlass}) net.training_.launch(kernel, 8);
    });
  }

  void relu() {
    const auto outer = op("aten::relu", sequence_);
    launch("aten::clamp_min", kRotate);
    add_node("ReluBackward0", [](Network& net) { net.launch("aten::threshold_backward", kRotate); });
  }

  void linear() {
    const auto outer = op("aten::linear", sequence_);
    {
      const auto transposed = op("aten::t", sequence_);
      add_node("TBackward0", [](Network& net) { const auto range = net.op("aten::t"); });
    }
    const auto product = op("aten::addmm", sequence_);
    training_.launch(kNvjet);
    add_node("AddmmBackward0", [](Network& net) {
      for (int i = 0; i < 2; ++i) net.launch("aten::mm", kSgemm);
      net.launch("aten::sum", kRotate);
    });
  }

  Training& training_;
  int sequence_ = 0, op_id_ = 0;
  std::vector<Node> nodes_;
};

// As autograd's: there is one a device, and the caller waits for it.
class Engine {
 public:
  explicit Engine(Network& network) {
    CUcontext context = nullptr;
    CHECK(cuCtxGetCurrent(&context));
    thread_ = std::thread([this, &network, context] {
      CHECK(cuCtxSetCurrent(context));
      for (asked_.acquire(); !ends_; asked_.acquire()) {
        network.backward();
        done_.release();
      }
    });
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() {
    ends_ = true;
    asked_.release();
    thread_.join();
  }

  void run() {
    asked_.release();
    done_.acquire();
  }

 private:
  bool ends_ = false;
  std::binary_semaphore asked_{0}, done_{0};
  std::thread thread_;
};

void take_training_step(Training& training, Network& network, Engine& engine) {
  {
    const Range loader("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    if (!training.upload(kBatch)) check(CUDA_ERROR_UNKNOWN, "upload");
  }
  const Range step("dlkprof:step");
  network.zero_grad();
  const auto pass = nvtxRangeStartA("pass");  // start and end: no part of the stack
  {
    const DomainRange range("net");
    network.forward();
  }
  network.loss();
  {
    const Range phase("dlkprof:phase: backward");
    engine.run();
  }
  nvtxRangeEnd(pass);
  network.update();
}

}  // namespace

void train_marked(Training& training, int steps) {
  nvtxMarkA("dlkprof:fact: pytorch version 2.11.0");
  Network network(training);
  Engine engine(network);
  training.launch(kAdd);
  for (int i = 0; i < steps; ++i) {
    take_training_step(training, network, engine);
    training.launch(kSgemm);
  }
  nvtxRangePushA("teardown");
  training.launch(kRotate);
}

}  // namespace target
