// cuInit, which loads the library to inject as the real driver does; failures; and the door for the fake CUPTI.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/failures.h"
#include "cuda/state.h"

namespace fakes {

// context.cpp and memory.cpp
std::shared_ptr<Snapshot> save(CUcontext context);
void restore(const Snapshot& snapshot);
void replay(const KernelRun& run, std::size_t passes);
bool idle(CUcontext context);

namespace {

std::atomic<pid_t> g_initialized_by{0};
std::atomic<bool> g_shut_down{false};
std::atomic<const DriverHooks*> g_hooks{nullptr};

bool is_injected_library(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && std::strstr(info.dli_fname, "libdlkprof_inject") != nullptr;
}

void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  if (auto* entry = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) entry();
}

}  // namespace

std::optional<CUresult> refuse(const char* function, const void* caller, bool needs_init) {
  static Failures& failures = *new Failures("FAKE_CUDA_FAIL");
  if (is_injected_library(caller)) {
    if (const auto result = failures.next(function)) return static_cast<CUresult>(std::stoi(*result));
  }
  if (needs_init && g_initialized_by != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  return std::nullopt;
}

const DriverHooks* hooks() { return g_hooks; }

}  // namespace fakes

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  pid_t nobody = 0;
  if (!fakes::g_initialized_by.compare_exchange_strong(nobody, getpid())) {
    return nobody == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
  }
  std::atexit([] { fakes::g_shut_down = true; });
  fakes::inject();
  return CUDA_SUCCESS;
}

const fakes::DriverTable* fake_driver_table() {
  static const fakes::DriverTable table{
      .set_hooks = [](const fakes::DriverHooks* hooks) { fakes::g_hooks = hooks; },
      .save = fakes::save,
      .restore = fakes::restore,
      .replay = fakes::replay,
      .idle = fakes::idle,
      .current_context = fakes::current_context,
      .wait_for_host_functions = fakes::wait_for_host_functions,
      .capturing = fakes::capturing,
      .shut_down = [] { return fakes::g_shut_down.load(); },
      .context_id = [](CUcontext context) { return context->id; },
      .device_of = [](CUcontext context) { return context->device; },
      .cubin = fakes::cubin,
      .stream_id = fakes::stream_id,
      .number_calls_anew = fakes::number_calls_anew,
      .graph_id = [](CUgraph graph) { return graph->id; },
      .executable_id = [](CUgraphExec executable) { return executable->id; },
      .node_id = [](CUgraphNode node) { return node->id; },
  };
  return &table;
}

}  // extern "C"
