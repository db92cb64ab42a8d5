// Sessions of the Profiling API: auto ranges of the launches that are made while profiling is enabled, a pass at a time.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/journal.h"
#include "cupti/real.h"

namespace fakes {
namespace {

struct Session {
  FakeImage* image = nullptr;
  std::size_t most_ranges = 0;
  std::size_t passes = 0;  // of the configuration; 0: none is set
  std::size_t pass = 0;    // of them
  bool in_pass = false, enabled = false;
  bool spoiled = false;          // the session of another context has ended since: nothing is counted any more, as CUPTI does
  std::vector<unsigned> ranges;  // of the pass: which recorded range each launch stands for
};

std::map<CUcontext, Session>& sessions() {
  static auto& instance = *new std::map<CUcontext, Session>;
  return instance;
}

// Contexts that had a configuration which counts SASS instructions.
std::set<CUcontext>& patched() {
  static auto& instance = *new std::set<CUcontext>;
  return instance;
}

// Null, and misuse, where the context has none, or is not current.
Session* session_of(CUcontext context, const char* function) {
  const auto found = sessions().find(context);
  if (found == sessions().end()) {
    misuse(std::string(function) + " without a session");
    return nullptr;
  }
  if (context != driver()->current_context()) misuse(std::string(function) + " while another context is current");
  return &found->second;
}

// As CUPTI does, without an end.
void wait_for_all(CUcontext context) { driver()->wait_for_host_functions(context); }

// What the hardware is set up or read out for cannot be recorded into a graph.
void no_capture(const char* function) {
  if (driver()->capturing()) misuse(std::string(function) + " while a stream is recorded");
}

bool is_laid_out(const CUpti_Profiler_CounterDataImageOptions& options) {
  const auto* prefix = reinterpret_cast<const FakePrefix*>(options.pCounterDataPrefix);
  return options.counterDataPrefixSize == sizeof *prefix && prefix->magic == kFakePrefixMagic && prefix->counters > 0 &&
         options.maxNumRangeTreeNodes >= options.maxNumRanges;
}

void write_ranges(Session& session) {
  if (session.image->ranges != 0) misuse("cuptiProfilerEndPass into an image that has ranges");
  session.image->has_device = 1;
  session.image->ranges = std::min(session.ranges.size(), session.most_ranges);  // the others are dropped without a word
  session.image->plan_passes = session.passes;
  for (std::size_t range = 0; range < session.image->ranges; ++range) {
    session.image->put(range, {session.ranges[range], 1ULL << session.pass});
  }
}

}  // namespace

bool run_in_session(const KernelRun& run) {
  const std::lock_guard lock(state_mutex());
  const auto found = sessions().find(run.context);
  if (found == sessions().end() || !found->second.enabled || found->second.spoiled) return false;
  found->second.ranges.push_back(run.kernel->recorded_range);
  driver()->replay(run, 1);
  if (records_kernels()) misuse(std::string(run.kernel->name) + " is recorded while it is measured, by instructions that count");
  return true;
}

bool has_session(int device) {
  return std::any_of(sessions().begin(), sessions().end(),
                     [device](const auto& entry) { return driver()->device_of(entry.first) == device; });
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiProfilerCounterDataImageCalculateSize(CUpti_Profiler_CounterDataImage_CalculateSize_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerCounterDataImageCalculateSize);
  if (!fakes::is_laid_out(*params->pOptions)) return CUPTI_ERROR_INVALID_PARAMETER;
  params->counterDataImageSize = fakes::FakeImage::bytes(params->pOptions->maxNumRanges, fakes::FakeImage::kSumBytes);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerCounterDataImageInitialize(CUpti_Profiler_CounterDataImage_Initialize_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerCounterDataImageInitialize);
  const std::size_t room = params->pOptions->maxNumRanges;
  if (!fakes::is_laid_out(*params->pOptions) ||
      params->counterDataImageSize != fakes::FakeImage::bytes(room, fakes::FakeImage::kSumBytes)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *reinterpret_cast<fakes::FakeImage*>(params->pCounterDataImage) = fakes::FakeImage::empty(room, fakes::FakeImage::kSumBytes);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerCounterDataImageCalculateScratchBufferSize(
    CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerCounterDataImageCalculateScratchBufferSize);
  params->counterDataScratchBufferSize = 64;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerCounterDataImageInitializeScratchBuffer(
    CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerCounterDataImageInitializeScratchBuffer);
  return params->counterDataScratchBufferSize < 64 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerBeginSession(CUpti_Profiler_BeginSession_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerBeginSession);
  const std::lock_guard lock(fakes::state_mutex());
  const auto* image = fakes::as_fake_image(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr || image->room < params->maxRangesPerPass || params->counterDataScratchBufferSize < 64 ||
      params->range != CUPTI_AutoRange || params->replayMode != CUPTI_ApplicationReplay) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (fakes::counters_held(fakes::driver()->device_of(params->ctx))) {
    fakes::misuse("cuptiProfilerBeginSession while a context has the counters of that GPU");
    return CUPTI_ERROR_HARDWARE_BUSY;
  }
  fakes::no_capture("cuptiProfilerBeginSession");
  fakes::Session& session = fakes::sessions()[params->ctx];
  session.image = const_cast<fakes::FakeImage*>(image);
  session.most_ranges = params->maxRangesPerPass;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerEndSession(CUpti_Profiler_EndSession_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerEndSession);
  fakes::wait_for_all(params->ctx);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerEndSession");
  if (session == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  fakes::no_capture("cuptiProfilerEndSession");
  fakes::sessions().erase(params->ctx);
  for (auto& [context, other] : fakes::sessions()) other.spoiled = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerSetConfig(CUpti_Profiler_SetConfig_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerSetConfig);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerSetConfig");
  if (session == nullptr || session->in_pass) return CUPTI_ERROR_INVALID_OPERATION;
  if (session->passes != 0) fakes::misuse("cuptiProfilerSetConfig without cuptiProfilerUnsetConfig");
  const std::size_t passes = fakes::passes_of(params->pConfig, params->configSize);
  if (params->numNestingLevels != 1 || params->targetNestingLevel != 1 || params->passIndex >= passes) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  session->passes = passes;
  session->pass = params->passIndex;
  if (fakes::patches_code(params->pConfig, params->configSize)) {
    fakes::patched().insert(params->ctx);
  } else if (fakes::patched().contains(params->ctx)) {
    fakes::misuse("cuptiProfilerSetConfig without SASS instructions after one with them: the session's end frees twice");
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerUnsetConfig(CUpti_Profiler_UnsetConfig_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerUnsetConfig);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerUnsetConfig");
  if (session == nullptr || session->passes == 0 || session->in_pass) return CUPTI_ERROR_INVALID_OPERATION;
  session->passes = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerBeginPass(CUpti_Profiler_BeginPass_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerBeginPass);
  fakes::wait_for_all(params->ctx);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerBeginPass");
  if (session == nullptr || session->passes == 0 || session->in_pass) return CUPTI_ERROR_INVALID_OPERATION;
  fakes::no_capture("cuptiProfilerBeginPass");
  session->in_pass = true;
  session->ranges.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerEnableProfiling(CUpti_Profiler_EnableProfiling_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerEnableProfiling);
  fakes::wait_for_all(params->ctx);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerEnableProfiling");
  if (session == nullptr || !session->in_pass) return CUPTI_ERROR_INVALID_OPERATION;
  fakes::no_capture("cuptiProfilerEnableProfiling");
  if (session->enabled) fakes::misuse("cuptiProfilerEnableProfiling twice");
  session->enabled = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDisableProfiling(CUpti_Profiler_DisableProfiling_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerDisableProfiling);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerDisableProfiling");
  if (session == nullptr || !session->enabled) return CUPTI_ERROR_INVALID_OPERATION;
  session->enabled = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerEndPass(CUpti_Profiler_EndPass_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerEndPass);
  fakes::wait_for_all(params->ctx);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerEndPass");
  if (session == nullptr || !session->in_pass || session->enabled) return CUPTI_ERROR_INVALID_OPERATION;
  fakes::no_capture("cuptiProfilerEndPass");
  session->in_pass = false;
  fakes::write_ranges(*session);
  fakes::trace("window of pass " + std::to_string(session->pass) + ", launches " + std::to_string(session->ranges.size()));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerFlushCounterData(CUpti_Profiler_FlushCounterData_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerFlushCounterData);
  const std::lock_guard lock(fakes::state_mutex());
  auto* session = fakes::session_of(params->ctx, "cuptiProfilerFlushCounterData");
  if (session == nullptr || session->in_pass) return CUPTI_ERROR_INVALID_OPERATION;
  return CUPTI_SUCCESS;
}

}  // extern "C"
