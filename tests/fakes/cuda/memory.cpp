// Device memory: the host's, by context, so that all of it can be saved and restored.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/journal.h"
#include "cuda/state.h"

namespace fakes {

struct Snapshot {
  CUcontext context;
  std::map<CUdeviceptr, std::vector<std::uint8_t>> memory;
};

std::shared_ptr<Snapshot> save(CUcontext context) {
  const std::lock_guard lock(context->mutex);
  return std::make_shared<Snapshot>(Snapshot{context, context->memory});
}

void restore(const Snapshot& snapshot) {
  const std::lock_guard lock(snapshot.context->mutex);
  for (const auto& [address, bytes] : snapshot.memory) {
    const auto place = snapshot.context->memory.find(address);
    if (place != snapshot.context->memory.end()) std::memcpy(place->second.data(), bytes.data(), bytes.size());
  }
}

void replay(const KernelRun& run, std::size_t passes) {
  const std::lock_guard lock(run.context->mutex);
  finish(run.context);
  const auto before = save(run.context);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    if (pass > 0) restore(*before);
    trace(std::string("pass ") + run.kernel->name);
    run.kernel->run(run.arguments.data());
  }
}

namespace {

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void tell_moved(MemoryMove::Kind kind, CUcontext context, const ApiCall& call, std::size_t bytes) {
  if (const auto* told = hooks()) told->moved({kind, context, call.correlation(), bytes});
}

}  // namespace
}  // namespace fakes

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  FAKE_ENTRY(cuMemAlloc_v2);
  if (fakes::spoils_recording()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(context->mutex);
  std::vector<std::uint8_t> memory(bytes, 0xA5);  // nobody may count on zeros
  *address = reinterpret_cast<CUdeviceptr>(memory.data());
  context->memory.emplace(*address, std::move(memory));
  return CUDA_SUCCESS;
}

// What a program has reserved of the GPU, in GB, is FAKE_RESERVED_GB: no test allocates so much.
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  FAKE_ENTRY(cuMemGetInfo_v2);
  constexpr std::size_t kTotal = 150'000'000'000, kGigabyte = 1'000'000'000;
  const char* reserved = std::getenv("FAKE_RESERVED_GB");
  const std::size_t used = reserved != nullptr ? std::strtoull(reserved, nullptr, 10) * kGigabyte : 0;
  *total = kTotal;
  *free = kTotal - std::min(kTotal, used);
  return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
  FAKE_ENTRY(cuMemFree_v2);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(context->mutex);
  fakes::finish(context);
  return context->memory.erase(address) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, std::size_t bytes) {
  FAKE_ENTRY(cuMemsetD8_v2);
  const cuMemsetD8_v2_params params{address, value, bytes};
  const fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, "cuMemsetD8_v2", &params);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(context->mutex);
  fakes::finish(context);
  std::memset(fakes::host(address), value, bytes);
  fakes::tell_moved(fakes::MemoryMove::Kind::set, context, call, bytes);
  return CUDA_SUCCESS;
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  FAKE_ENTRY(cuStreamWriteValue32_v2);
  const cuStreamWriteValue32_v2_params params{stream, address, value, flags};
  const fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2, "cuStreamWriteValue32_v2", &params);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(context->mutex);
  fakes::finish(context);
  std::memcpy(fakes::host(address), &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  FAKE_ENTRY(cuMemcpyHtoD_v2);
  cuMemcpyHtoD_v2_params params{to, from, bytes};
  const fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, "cuMemcpyHtoD_v2", &params);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(context->mutex);
  fakes::finish(context);
  std::memcpy(fakes::host(to), from, bytes);
  fakes::tell_moved(fakes::MemoryMove::Kind::htod, context, call, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  FAKE_ENTRY(cuMemcpyDtoH_v2);
  cuMemcpyDtoH_v2_params params{to, from, bytes};
  const fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, "cuMemcpyDtoH_v2", &params);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(context->mutex);
  fakes::finish(context);
  std::memcpy(to, fakes::host(from), bytes);
  fakes::tell_moved(fakes::MemoryMove::Kind::dtoh, context, call, bytes);
  return CUDA_SUCCESS;
}

}  // extern "C"
