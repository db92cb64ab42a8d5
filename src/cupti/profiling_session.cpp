#include "cupti/profiling_session.h"

#include "base/error.h"
#include "cupti/range_profiler.h"

namespace dlkprof::cupti {
namespace {

// All or none of them are there.
void require_sessions(const Library& library) {
  if (library.cuptiProfilerBeginSession != nullptr && library.cuptiProfilerEnableProfiling != nullptr) return;
  throw Error("this CUPTI cannot measure launches in windows", library.path().string() + " has no cuptiProfilerBeginSession",
              "Use --replay-mode kernel, or an older CUPTI: set CUDA_HOME to the folder of CUDA Toolkit 13.0.");
}

// Parameters of a call that names the context and little else.
template <typename Params>
Params of_context(Params params, CUcontext context) {
  params.ctx = context;
  return params;
}

}  // namespace

ProfilingSession::ProfilingSession(const Library& library, CUcontext context, std::span<std::uint8_t> image, std::size_t launches)
    : library_(library), context_(context), image_(image) {
  require_sessions(library_);
  auto size = DLKPROF_PARAMS(CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params);
  size.counterDataImageSize = image_.size();
  size.pCounterDataImage = image_.data();
  DLKPROF_CUPTI(library_, cuptiProfilerCounterDataImageCalculateScratchBufferSize, &size);
  scratch_.resize(size.counterDataScratchBufferSize);
  auto scratch = DLKPROF_PARAMS(CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params);
  scratch.counterDataImageSize = image_.size();
  scratch.pCounterDataImage = image_.data();
  scratch.counterDataScratchBufferSize = scratch_.size();
  scratch.pCounterDataScratchBuffer = scratch_.data();
  DLKPROF_CUPTI(library_, cuptiProfilerCounterDataImageInitializeScratchBuffer, &scratch);
  take_session(launches);
}

// With application replay the pass is the one that begin() names; with user replay passes would follow one another.
void ProfilingSession::take_session(std::size_t launches) {
  auto params = of_context(DLKPROF_PARAMS(CUpti_Profiler_BeginSession_Params), context_);
  params.counterDataImageSize = image_.size();
  params.pCounterDataImage = image_.data();
  params.counterDataScratchBufferSize = scratch_.size();
  params.pCounterDataScratchBuffer = scratch_.data();
  params.range = CUPTI_AutoRange;
  params.replayMode = CUPTI_ApplicationReplay;
  params.maxRangesPerPass = launches;
  params.maxLaunchesPerPass = launches;
  DLKPROF_CUPTI(library_, cuptiProfilerBeginSession, &params);
}

ProfilingSession::~ProfilingSession() {
  if (enabled_) {
    auto disable = of_context(DLKPROF_PARAMS(CUpti_Profiler_DisableProfiling_Params), context_);
    (void)library_.cuptiProfilerDisableProfiling(&disable);
  }
  if (in_pass_) {
    auto end = of_context(DLKPROF_PARAMS(CUpti_Profiler_EndPass_Params), context_);
    (void)library_.cuptiProfilerEndPass(&end);
    auto unset = of_context(DLKPROF_PARAMS(CUpti_Profiler_UnsetConfig_Params), context_);
    (void)library_.cuptiProfilerUnsetConfig(&unset);
  }
  auto params = of_context(DLKPROF_PARAMS(CUpti_Profiler_EndSession_Params), context_);
  (void)library_.cuptiProfilerEndSession(&params);
}

void ProfilingSession::begin(const CollectionPlan& plan, std::size_t pass) {
  auto config = of_context(DLKPROF_PARAMS(CUpti_Profiler_SetConfig_Params), context_);
  config.pConfig = plan.config_image.data();
  config.configSize = plan.config_image.size();
  config.minNestingLevel = 1;
  config.numNestingLevels = 1;
  config.targetNestingLevel = 1;
  config.passIndex = pass;
  DLKPROF_CUPTI(library_, cuptiProfilerSetConfig, &config);
  in_pass_ = true;
  auto params = of_context(DLKPROF_PARAMS(CUpti_Profiler_BeginPass_Params), context_);
  DLKPROF_CUPTI(library_, cuptiProfilerBeginPass, &params);
}

void ProfilingSession::enable() {
  auto params = of_context(DLKPROF_PARAMS(CUpti_Profiler_EnableProfiling_Params), context_);
  DLKPROF_CUPTI(library_, cuptiProfilerEnableProfiling, &params);
  enabled_ = true;
}

void ProfilingSession::disable() {
  auto params = of_context(DLKPROF_PARAMS(CUpti_Profiler_DisableProfiling_Params), context_);
  DLKPROF_CUPTI(library_, cuptiProfilerDisableProfiling, &params);
  enabled_ = false;
}

void ProfilingSession::end(std::size_t launches, bool maybe_one_more) {
  auto params = of_context(DLKPROF_PARAMS(CUpti_Profiler_EndPass_Params), context_);
  DLKPROF_CUPTI(library_, cuptiProfilerEndPass, &params);
  auto flush = of_context(DLKPROF_PARAMS(CUpti_Profiler_FlushCounterData_Params), context_);
  DLKPROF_CUPTI(library_, cuptiProfilerFlushCounterData, &flush);
  auto unset = of_context(DLKPROF_PARAMS(CUpti_Profiler_UnsetConfig_Params), context_);
  DLKPROF_CUPTI(library_, cuptiProfilerUnsetConfig, &unset);
  in_pass_ = false;
  const std::size_t most = launches + (maybe_one_more ? 1 : 0);
  require_ranges(library_, image_, {launches, most}, flush.numRangesDropped);
}

}  // namespace dlkprof::cupti
