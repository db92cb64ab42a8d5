#include "inject/replay/kernel_replay.h"

#include "base/error.h"
#include "cupti/checkpoint.h"

namespace dlkprof::inject {
namespace {

// The program's own launch must find memory as it was: where that fails nothing else can save its results, so it is tried
// twice, and said plainly.
void put_back(cupti::Checkpoint& memory) {
  try {
    memory.restore();
  } catch (const Error&) {
    try {
      memory.restore();
    } catch (const Error& error) {
      throw Error("GPU memory could not be put back after a replay, so THE PROGRAM'S RESULTS ARE WRONG from here on",
                  error.detail(), "Run it again with --cache-control none.");
    }
  }
}

}  // namespace

KernelReplay::KernelReplay(const cupti::Library& library, const cupti::Driver& driver, CUcontext context,
                           const capture::DeviceRecord& device, const std::vector<capture::MetricRequest>& metrics,
                           capture::CacheControl caches)
    : library_(library),
      driver_(driver),
      context_(context),
      gpu_(device.pci_bus_id),
      caches_(caches),
      turn_(cupti::CounterTurn::take(gpu_)),
      host_(cupti::Host::create(library, device.chip, cupti::counter_availability(library, context))),
      flush_(std::make_unique<cupti::CacheFlush>(driver, device.l2_bytes)) {
  auto resolved = host_.resolve(metrics);
  unavailable_ = std::move(resolved.unavailable);
  if (resolved.names.empty()) {
    throw Error("none of the metrics asked for is offered by this GPU", device.chip,
                "See what it offers: dlkprof metrics --chip " + device.chip + " --query <regex>");
  }
  plan_ = host_.plan(resolved.names);
  take_counters();
}

void KernelReplay::take_counters() {
  if (!turn_.held()) turn_ = cupti::CounterTurn::take(gpu_);
  profiler_.emplace(cupti::RangeProfiler::create(library_, context_));
  profiler_->configure(plan_, caches_ == capture::CacheControl::all ? CUPTI_UserReplay : CUPTI_KernelReplay);
}

void KernelReplay::release_counters() {
  pause_.reset();
  profiler_.reset();
  turn_ = {};
}

KernelReplay::~KernelReplay() {
  try {
    const cupti::CurrentContext current(driver_, context_);
    flush_.reset();
  } catch (const Error&) {
    (void)flush_.release();  // the context is gone, and its memory with it
  }
}

void KernelReplay::begin(const LaunchCall& call) {
  if (profiler_) {
    profiler_->reset();
  } else {
    take_counters();
  }
  if (caches_ == capture::CacheControl::all) {
    replay_by_hand(call);
  } else {
    cupti::synchronize_devices(driver_);  // what was launched before is still to be timed, and must not change what is saved
    pause_.emplace();
    profiler_->start();
  }
}

std::vector<double> KernelReplay::end() {
  if (caches_ == capture::CacheControl::none) {
    const bool complete = profiler_->stop();
    pause_.reset();
    if (!complete) throw Error("not all passes of a launch were collected", "cuptiRangeProfilerStop", "");
  }
  profiler_->decode();
  return host_.evaluate(profiler_->image(), 0, plan_.metrics);
}

void KernelReplay::replay_by_hand(const LaunchCall& call) {
  // What was launched before on any stream must not run into a pass, nor change memory after it is saved.
  cupti::synchronize_devices(driver_);
  const cupti::ActivityPause pause;
  flush_->prepare();  // before the checkpoint, which covers the allocations there are when it is taken
  auto memory = cupti::Checkpoint::save(library_, context_);
  bool complete = false;
  try {
    complete = collect_passes(call, memory);
  } catch (...) {
    (void)driver_.cuCtxSynchronize();
    put_back(memory);
    throw;
  }
  put_back(memory);
  if (!complete) throw Error("not all passes of a launch were collected", "cuptiRangeProfilerStop", "");
}

bool KernelReplay::collect_passes(const LaunchCall& call, cupti::Checkpoint& memory) {
  for (std::size_t pass = 0; pass < plan_.most_passes(); ++pass) {
    if (pass > 0) memory.restore();
    flush_->run();
    profiler_->start();
    const CUresult launched = launch_again(driver_, call);
    const bool complete = profiler_->stop();
    if (launched != CUDA_SUCCESS)
      throw LaunchRefused("the driver refused a launch", "cuLaunchKernel: " + cupti::name_of(driver_, launched), "");
    if (complete) return true;
  }
  return false;
}

}  // namespace dlkprof::inject
