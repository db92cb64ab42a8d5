// Streams, recording them into graphs, and the program's own profiler calls.
#include <algorithm>
#include <atomic>

#include "cuda/state.h"

namespace fakes {
namespace {

constexpr std::uint32_t kDefaultStream = 7, kPerThreadStream = 8, kFirstStream = 13;  // as CUPTI numbers them

std::mutex g_mutex;
std::vector<CUstream> g_recording;

}  // namespace

std::uint32_t stream_id(CUcontext, CUstream stream, bool per_thread) {
  if (stream == CU_STREAM_PER_THREAD || (stream == nullptr && per_thread)) return kPerThreadStream;
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return kDefaultStream;
  return stream->id;
}

bool capturing() {
  const std::lock_guard lock(g_mutex);
  return !g_recording.empty();
}

bool spoils_recording() {
  const std::lock_guard lock(g_mutex);
  for (const auto stream : g_recording) stream->spoilt = true;
  return !g_recording.empty();
}

}  // namespace fakes

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  FAKE_ENTRY(cuStreamCreate);
  static std::atomic<std::uint32_t> next{fakes::kFirstStream};
  *stream = new CUstream_st{.context = fakes::current_context(), .id = next++};
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  FAKE_ENTRY(cuStreamSynchronize);
  const cuStreamSynchronize_params params{stream};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "cuStreamSynchronize", &params);
  fakes::finish(stream != nullptr ? stream->context : fakes::current_context());
  return call.gives(CUDA_SUCCESS);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  FAKE_ENTRY(cuStreamIsCapturing);
  const bool own = stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
  *status = own && stream->recording != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  FAKE_ENTRY(cuStreamBeginCapture_v2);
  const cuStreamBeginCapture_v2_params params{stream, mode};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2", &params);
  CUgraph graph = fakes::make_graph();  // tells of it, so without the lock
  const std::lock_guard lock(fakes::g_mutex);
  stream->recording = graph;
  stream->spoilt = false;
  fakes::g_recording.push_back(stream);
  return call.gives(CUDA_SUCCESS);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  FAKE_ENTRY(cuStreamEndCapture);
  const cuStreamEndCapture_params params{stream, graph};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, "cuStreamEndCapture", &params);
  const std::lock_guard lock(fakes::g_mutex);
  if (stream->recording == nullptr) return call.gives(CUDA_ERROR_ILLEGAL_STATE);
  std::erase(fakes::g_recording, stream);
  *graph = stream->recording;
  stream->recording = nullptr;
  return call.gives(stream->spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
}

CUresult cuProfilerStart() {
  FAKE_ENTRY(cuProfilerStart);
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart", nullptr);
  return call.gives(CUDA_SUCCESS);
}

CUresult cuProfilerStop() {
  FAKE_ENTRY(cuProfilerStop);
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "cuProfilerStop", nullptr);
  return call.gives(CUDA_SUCCESS);
}

}  // extern "C"
