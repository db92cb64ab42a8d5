// Which range was open when each node of the program's CUDA graphs was captured, and which nodes those of executable graphs are
// clones of, on their way to the capture. CUPTI tells of it, at capture and instantiation alone. Thread-safe: threads may
// capture side by side. Never throws: when appending fails it says so once, and kernels of later graphs are their launch's.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cupti/library.h"
#include "dlkprof/capture_format.h"
#include "inject/session/recorder.h"

namespace dlkprof::inject {

// No stream is being captured that the thread began to capture.
inline constexpr std::uint64_t kNotCapturing = ~std::uint64_t{0};

// What CUPTI tells of graphs; DriverCalls listens to it.
inline constexpr CUpti_CallbackId kGraphResources[] = {
    CUPTI_CBID_RESOURCE_GRAPH_CREATED,     CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPH_CLONED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,      CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};
[[nodiscard]] bool tells_of_graph(CUpti_CallbackId id) noexcept;

class GraphLog {
 public:
  explicit GraphLog(Recorder& recorder) : recorder_(recorder) {}

  // From the callback, where tells_of_graph(id). `capture_range`: the innermost range that was open when this thread began to
  // capture; kNotCapturing where it does not. No call of CUDA's may be made there, and none is.
  void on_resource(const cupti::Functions& cupti, CUpti_CallbackId id, const CUpti_GraphData& data,
                   std::uint64_t capture_range) noexcept;
  // Appends what was gathered, where there is a capture.
  void flush() noexcept;

  // Around fork, so that the child never inherits a lock that nobody will release; before the recorder's.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // In a forked child, between the two: what was gathered is the parent's.
  void forget() noexcept;

  static constexpr std::size_t kMostHeld = std::size_t{1} << 18U;    // events, until there is a capture
  static constexpr std::size_t kMostGraphs = std::size_t{1} << 20U;  // that are not destroyed yet

 private:
  struct Told;
  void on_graph(const Told& told);
  void on_node(const Told& told);
  void on_executable(const Told& told);
  std::uint64_t capture_range_of(std::uint64_t graph, std::uint64_t otherwise);
  void add(const capture::GraphEvent& event);
  void close(std::vector<capture::GraphEvent>& thread);
  void append();

  Recorder& recorder_;
  std::mutex mutex_;                                                 // of all below
  std::unordered_map<std::uint64_t, std::uint64_t> capture_ranges_;  // by graph
  // What each thread tells until its graph is whole. Who reads it takes what comes before a node for the node's child, and XLA
  // instantiates on a thread for each GPU.
  std::map<std::thread::id, std::vector<capture::GraphEvent>> unfinished_;
  std::vector<capture::GraphEvent> events_;
  std::size_t held_ = 0;  // of both
  std::uint64_t dropped_ = 0;
  bool failed_ = false;
};

}  // namespace dlkprof::inject
