// CUDA graphs of the program whose launches can be made node by node, so that counters of their kernels can be collected.
//
// At the entry of cuGraphLaunch, from within CUPTI's callback, the session makes the launches of the nodes, and hears of each as
// of any other launch. The call itself is turned to a graph without nodes: CUPTI's callback shows the arguments that the driver
// goes on with (seen with CUDA 13.0, driver 580; not documented). Whether they can be changed is tried first, with a graph of our
// own.
//
// Thread-safe, but for works(), which is called by one thread at a time.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cupti/driver.h"
#include "cupti/graph_nodes.h"
#include "inject/session/ledger.h"
#include "inject/session/recorder.h"
#include "inject/session/thread_state.h"

namespace dlkprof::inject {

// Where a graph launch shows its arguments.
struct GraphLaunchCall {
  CUgraphExec& executable;
  CUstream stream = nullptr;
};
// Of the entry of a call that DriverCalls::launches_graph().
[[nodiscard]] GraphLaunchCall read_graph_launch(CUpti_CallbackId entry, const CUpti_CallbackData& data);

class GraphLaunches {
 public:
  struct Graph {
    Graph(const cupti::Driver& driver, const cupti::GraphFunctions& functions, CUgraph graph) : nodes(driver, functions, graph) {}

    cupti::GraphNodes nodes;
    // The session's, behind its lock.
    std::vector<Ledger::Entry> kernels{};  // launch configurations in order, known when they were launched by themselves
    bool collective = true;                // some of its kernels wait for other GPUs
    int idle = 0;                          // of launches that were to be made so, those in a row in which nothing was measured
  };

  explicit GraphLaunches(const cupti::Driver& driver) : driver_(driver) {}

  // At the exit of the call, which has made `executable` of `graph` in `context`: the graph is read. CUPTI is to tell of what is
  // cloned then.
  void made(CUgraphExec executable, CUgraph graph, CUcontext context);
  // Clones must not outlive it.
  void context_ends(CUcontext context);
  // It can be launched by kernels, which only kernels inside of a graph can do. So from now on all graphs are launched whole.
  void made_for_gpu();
  // A call has set it otherwise: `follow` is given its nodes, if they are known, and says whether launch configurations are
  // others now. Gives the graph where they are.
  [[nodiscard]] std::shared_ptr<Graph> updated(CUgraphExec executable, const std::function<bool(cupti::GraphNodes&)>& follow);
  // A call has set all of it to what `graph` does; null: in another way, such as to leave nodes out, which a graph that is read
  // does not tell, so that what is done is so for good. Whether it is done, and its turn to be read again.
  [[nodiscard]] bool is_to_be_read_again(CUgraphExec executable, CUgraph graph);
  // It is known again where it has kernels that it was not done with.
  void read_again(CUgraphExec executable, CUgraph graph, CUcontext context);
  void destroyed(CUgraphExec executable);
  // Nothing more is wanted of it, and what was kept of it goes: clones keep alive what the program has tied to its graphs.
  // `for_good`: whatever it is set to.
  void done(CUgraphExec executable, bool for_good);
  // Nothing more is wanted of any.
  void clear();

  // Null where it cannot be launched node by node, or is not known, or done. To be called at each launch.
  [[nodiscard]] std::shared_ptr<Graph> find(CUgraphExec executable);
  // Whether a launch can be turned to another graph, such as `nothing`; tried the first time, in the current context.
  [[nodiscard]] bool works(ThreadState& thread, CUgraphExec nothing);

  // Says which graphs that were launched could not be measured, and why.
  void note_unusable(Recorder& recorder);

  // Of graphs with more nodes in all, the later ones are launched whole. What the driver's clones take was not measured.
  static constexpr std::size_t kMostNodes = std::size_t{1} << 15U;

 private:
  using Clock = std::chrono::steady_clock;

  struct Known {
    std::shared_ptr<Graph> graph;  // null where it is unusable, or done
    std::size_t nodes = 0;         // of it
    CUcontext context = nullptr;
    std::string unusable;
    bool launched = false;
    std::vector<std::size_t> shapes_done{};  // GraphNodes::shape()
  };
  enum class Trial : std::uint8_t { none, works, argument_kept, failed };

  [[nodiscard]] Known* find_done(CUgraphExec executable);
  [[nodiscard]] std::shared_ptr<Graph> read(CUgraph graph) const;
  void keep(Known& known, const std::shared_ptr<Graph>& graph, CUcontext context);
  [[nodiscard]] std::shared_ptr<Graph> take(Known& known);
  void count_unusable(const Known& known);
  [[nodiscard]] Trial try_out(ThreadState& thread, CUgraphExec nothing) const;

  const cupti::Driver& driver_;
  std::mutex mutex_;  // of the next five; nothing of CUDA is called behind it
  std::unordered_map<CUgraphExec, Known> known_;
  std::size_t nodes_ = 0;
  bool launched_by_kernels_ = false;
  std::map<std::string, std::size_t> unusable_;  // by reason, of those that are destroyed
  Clock::time_point next_reading_{};             // of one that is done
  std::atomic<Trial> trial_{Trial::none};
};

}  // namespace dlkprof::inject
