// What the fake driver and the fake CUPTI know of each other. In one process, each a library of its own: CUPTI asks
// the driver for this table by dlsym, as the real one does for its internal tables.
#pragma once

#pragma GCC visibility push(default)
#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti.h>
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fakes {

// A kernel of the fake GPU.
struct Kernel {
  const char* name;                            // mangled
  std::vector<std::size_t> parameters;         // bytes of each
  void (*run)(const std::uint8_t* arguments);  // one after the other, without gaps
  int registers, static_shared_bytes;
  unsigned recorded_range;    // whose counters it has (tests/data/h200_cnn_b512.counterdata.zst)
  std::uint64_t nanoseconds;  // gpu__time_duration.sum of that range
  int cluster = 1;            // blocks that it was compiled for, in x
};

// What a launch call says besides its function and arguments.
struct LaunchShape {
  std::int32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::int32_t shared_bytes = 0;
  CUstream stream = nullptr;
  bool per_thread_stream = false;
  int cluster = 1;  // blocks in x; 1: named by no attribute
};

// A launch on its way through the GPU.
struct KernelRun {
  CUcontext context;
  const Kernel* kernel;
  std::vector<std::uint8_t> arguments;
  std::uint32_t correlation;
  LaunchShape shape;
  std::uint64_t graph_node;  // 0: launched by itself
  bool recorded = false;     // activity was on when it was launched
};

// Memory that was copied (htod, dtoh) or set.
struct MemoryMove {
  enum class Kind : std::uint8_t { htod, dtoh, set };
  Kind kind;
  CUcontext context;
  std::uint32_t correlation;
  std::uint64_t bytes;
};

// All of a context's memory at one time.
struct Snapshot;

// What CUPTI wants to be told.
struct DriverHooks {
  // Entry and exit of an API call; `data` lacks nothing but the correlation data.
  void (*api)(CUpti_CallbackId id, CUpti_CallbackData& data);
  void (*resource)(CUpti_CallbackId id, CUpti_ResourceData& data);
  // A launch was made: true where CUPTI has run the kernel itself.
  bool (*launch)(const KernelRun& run);
  // A kernel is about to wait for its turn on the GPU.
  void (*queued)(KernelRun& run);
  // The GPU has run a kernel that no replay took.
  void (*executed)(const KernelRun& run);
  void (*moved)(const MemoryMove& move);
};

// What all modules of the fake hold.
struct Image {
  const char* data;
  std::size_t size;
};

struct DriverTable {
  void (*set_hooks)(const DriverHooks* hooks);  // null: none
  std::shared_ptr<Snapshot> (*save)(CUcontext context);
  void (*restore)(const Snapshot& snapshot);
  // Runs what is in the queue, then `run` so many times from the same memory, and nothing else meanwhile.
  void (*replay)(const KernelRun& run, std::size_t passes);
  bool (*idle)(CUcontext context);
  CUcontext (*current_context)();
  void (*wait_for_host_functions)(CUcontext context);
  bool (*capturing)();  // some stream is being recorded into a graph
  bool (*shut_down)();  // the exit handlers of the driver have run
  std::uint32_t (*context_id)(CUcontext context);
  int (*device_of)(CUcontext context);
  Image (*cubin)();
  std::uint32_t (*stream_id)(CUcontext context, CUstream stream, bool per_thread);
  void (*number_calls_anew)();  // by CUPTI's correlation
  std::uint32_t (*graph_id)(CUgraph graph);
  std::uint32_t (*executable_id)(CUgraphExec executable);
  std::uint64_t (*node_id)(CUgraphNode node);
};

inline constexpr const char* kDriverTableSymbol = "fake_driver_table";

}  // namespace fakes

extern "C" __attribute__((visibility("default"))) const fakes::DriverTable* fake_driver_table();
