// The fake driver's inside: handles are pointers to these, which cuda.h leaves open.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cuda/fake_driver.h"

struct CUctx_st {
  int device = 0;
  std::uint32_t id = 0;
  bool alive = true;
  std::recursive_mutex mutex;  // of all below
  std::deque<fakes::KernelRun> queue;
  std::map<CUdeviceptr, std::vector<std::uint8_t>> memory;
  std::mutex hosts_mutex;  // of what follows
  std::condition_variable hosts_done;
  std::set<std::uint64_t> hosts;  // host functions that are not done, by their number
  std::uint64_t hosts_launched = 0;
};

struct CUstream_st {
  CUcontext context = nullptr;
  std::uint32_t id = 0;
  CUgraph recording = nullptr;
  bool spoilt = false;  // a forbidden call was made while it was recorded
};

// A launch may name a function or a kernel of a library: told apart by the first member.
enum class HandleKind : std::uint32_t { function = 0x66756e63, kernel = 0x6b65726e };
struct CUfunc_st {
  HandleKind kind = HandleKind::function;
  const fakes::Kernel* kernel = nullptr;
};
struct CUkern_st {
  HandleKind kind = HandleKind::kernel;
  CUfunction function = nullptr;
  CUlibrary library = nullptr;
};

struct CUmod_st {
  CUcontext context = nullptr;
  std::deque<CUfunc_st> functions;
};
struct CUlib_st {
  CUmod_st module;
  std::deque<CUkern_st> kernels;
  std::set<CUcontext> loaded_in;  // see fakes::load_lazily
};
// A kernel, another graph as its child, or memory that is set.
struct CUgraphNode_st {
  std::uint64_t id = 0;  // as CUPTI numbers it: that of the graph, and the node's own
  fakes::KernelRun run{};
  CUfunction function = nullptr;  // that it was launched by
  CUgraph child = nullptr;
  std::optional<CUDA_MEMSET_NODE_PARAMS> set;
  std::vector<void*> arguments;    // where those of the run lie, once somebody has asked
  CUgraphNode original = nullptr;  // that it was cloned from
};
struct CUgraph_st {
  std::uint32_t id = 0;
  std::deque<CUgraphNode_st> nodes;
};
struct CUgraphExec_st {
  std::uint32_t id = 0;
  CUgraph graph = nullptr;  // a clone of its own
};

namespace fakes {

// Begins every entry of the driver: not initialized, in a forked child, or told to fail by the test.
[[nodiscard]] std::optional<CUresult> refuse(const char* function, const void* caller, bool needs_init = true);
#define FAKE_ENTRY(function) \
  if (const auto refused = ::fakes::refuse(#function, __builtin_return_address(0))) return *refused

[[nodiscard]] const DriverHooks* hooks();
[[nodiscard]] const Kernel* find_kernel(const std::string& name);
// Those that there are by themselves.
[[nodiscard]] std::vector<const char*> kernel_names();
// What all modules hold.
[[nodiscard]] Image cubin();

// The module of a library is loaded into a context when one of its kernels is first needed there, whatever call that is in.
void load_lazily(CUkernel kernel);

// What CUPTI is told of graphs, on the thread that calls. A node is told of when it is captured, and so are its clones.
[[nodiscard]] CUgraph make_graph();
void capture_node(CUgraph graph, KernelRun run, CUfunction function);
// A node of a clone, or of an executable graph's; null where it has none.
[[nodiscard]] CUgraphNode find_in_clone(CUgraph clone, CUgraphNode original);
// Of a node; refused where it is null, or the kernel is not known.
[[nodiscard]] CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2& params);
[[nodiscard]] const Kernel* kernel_of(CUfunction handle);
[[nodiscard]] std::vector<std::uint8_t> pack(const Kernel& kernel, void** parameters);
void set_memory(const CUDA_MEMSET_NODE_PARAMS& set);

[[nodiscard]] CUcontext current_context();
// Calls that wait for the GPU or take memory spoil every recording that is going on (capture mode global).
[[nodiscard]] bool spoils_recording();
void enqueue(KernelRun run);
void finish(CUcontext context);
void wait_for_host_functions(CUcontext context);
std::uint32_t stream_id(CUcontext context, CUstream stream, bool per_thread);
[[nodiscard]] bool capturing();
[[nodiscard]] std::uint32_t next_correlation();
void number_calls_anew();

// The callbacks around an API call; the call's result is set before the end of its scope.
class ApiCall {
 public:
  ApiCall(CUpti_CallbackId id, const char* name, const void* params, const char* symbol = nullptr);
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;
  ~ApiCall();

  [[nodiscard]] std::uint32_t correlation() const noexcept { return data_.correlationId; }
  CUresult gives(CUresult result) { return result_ = result; }

 private:
  CUpti_CallbackId id_;
  CUpti_CallbackData data_{};
  CUresult result_ = CUDA_SUCCESS;
  std::uint64_t correlation_data_ = 0;
};

}  // namespace fakes
