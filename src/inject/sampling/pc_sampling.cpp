#include "inject/sampling/pc_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/lock_within.h"
#include "cupti/pc_period.h"

namespace dlkprof::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Where a module is unloaded and another comes to lie at its place within this time, samples of the first may count for the
// second.
constexpr auto kBetweenDrains = 500ms;
constexpr auto kBetweenAppends = 1s;
// What was found goes to the capture when a tenth of the time sampled has passed since the last: of a program that is killed at
// most that is lost, and one that runs for hours does not write the same instructions again every second.
constexpr int kAppendsATenth = 10;
// Or when there are so many instructions: some MB.
constexpr std::size_t kMostPending = 65'536;
// More samples dropped than one in so many are too many to trust what is left.
constexpr std::uint64_t kDroppedOneIn = 100;
// The thread holds the mutex while CUPTI works, which takes milliseconds.
constexpr auto kLockPatience = 5s;
// For source lines: of our thread each time that it appends, and of the program's at its end.
constexpr auto kTimeForLines = 200ms, kTimeForLinesAtEnd = 2000ms;
// For machine code likewise: unpacking a module of a library and packing some functions of it takes tens of milliseconds.
constexpr auto kTimeForCode = 200ms, kTimeForCodeAtEnd = 1000ms;

constexpr const char* kLost = "PC samples were lost";  // as report summary says it of the whole run
constexpr const char* kRemedy =
    "The program runs on. Stall reasons come from counters as well: --replay-mode kernel --section stall, without --pc-sampling.";

}  // namespace

PcSampling::PcSampling(const cupti::Library& library, Recorder& recorder, std::optional<std::uint32_t> period_log2,
                       std::function<void()> on_thread)
    : library_(library), recorder_(recorder), period_log2_(period_log2), on_thread_(std::move(on_thread)), sources_(library) {}

void PcSampling::module_loaded(const CUpti_ResourceData& data) noexcept {
  if (!active_ || forgotten_) return;
  try {
    const auto* module = static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor);
    if (module != nullptr && module->pCubin != nullptr) sources_.loaded({module->pCubin, module->cubinSize});
  } catch (const std::exception& error) {
    fail("PC sampling has ended", error);
  }
}

void PcSampling::context_ends(CUcontext context) noexcept {
  if (!active_ || forgotten_) return;
  try {
    const auto lock = lock_within(kLockPatience, mutex_);
    if (!lock || stopping_) return;
    asked_.erase(context);
    auto ending = contexts_.extract(context);
    if (!ending.empty()) end_for_good(ending.mapped());
  } catch (const std::exception& error) {
    fail("PC sampling has ended", error);
  }
}

void PcSampling::start(CUcontext context, std::uint32_t device) noexcept {
  if (!active_ || forgotten_ || !period_log2_) return;
  try {
    const auto lock = lock_within(kLockPatience, mutex_);
    if (!lock || stopping_ || contexts_.contains(context) || !asked_.insert(context).second) return;
    contexts_.try_emplace(context, Context{cupti::PcSampler::start(library_, context, *period_log2_), device, {}});
    if (thread_.started()) return;
    started_ = appended_ = Clock::now();
    thread_.start([this] { run(); });
  } catch (const std::exception& error) {
    say("PC sampling of a context could not begin", error);  // those of others go on
  }
}

void PcSampling::run() noexcept {
  on_thread_();
  std::unique_lock lock(mutex_);
  while (active_ && !stopping_changed_.wait_for(lock, kBetweenDrains, [this] { return stopping_; })) {
    try {
      if (active_) drain_all();
    } catch (const std::exception& error) {
      fail("PC sampling has ended", error);
    }
  }
  if (!active_) contexts_.clear();
}

void PcSampling::drain_all() {
  const auto now = Clock::now();
  const bool due = now - appended_ >= std::max<Clock::duration>(kBetweenAppends, (now - started_) / kAppendsATenth);
  if (due) appended_ = now;
  for (auto& [handle, context] : contexts_) {
    drain(context);
    if (context.loses_samples) lengthen_period(handle, context);
    if (due || context.table.instructions() > kMostPending) append(context);
  }
}

void PcSampling::drain(Context& context) {
  const cupti::PcTotals totals = context.sampler->drain([&](const cupti::PcHit& hit) { take(context, hit); });
  context.table.add(totals);
  if (totals.overflows > 0 || totals.dropped > totals.samples / kDroppedOneIn) context.loses_samples = true;
}

void PcSampling::take(Context& context, const cupti::PcHit& hit) {
  const std::uint32_t function = functions_.id_of(hit.cubin_crc, hit.function);
  context.table.add(function, hit);
  sources_.sampled(function, hit.cubin_crc, hit.offset);
}

// CUPTI takes another period only when sampling begins.
void PcSampling::lengthen_period(CUcontext handle, Context& context) {
  const std::uint32_t period = context.sampler->period_log2();
  if (period >= cupti::kMostPcPeriod) return;
  end(context);
  context.loses_samples = false;
  context.sampler.emplace(cupti::PcSampler::start(library_, handle, period + 1));
  recorder_.note(capture::Severity::info, kLost,
                 fmt::format("the hardware's buffer overflowed; the period is 2^{} cycles from then on", period + 1),
                 fmt::format("Begin with --pc-sampling={}.", period + 1));
}

// A program may end before any period was lengthened, and all samples of a short one be lost.
void PcSampling::end_for_good(Context& context) {
  const std::uint32_t period = context.sampler->period_log2();
  end(context);
  if (!context.loses_samples || period >= cupti::kMostPcPeriod) return;
  recorder_.note(capture::Severity::warning, kLost,
                 "the hardware's buffer overflowed, and the program ended before the period was lengthened",
                 fmt::format("Sample less often: --pc-sampling={}.", period + 1));
}

void PcSampling::record(std::uint64_t launch_index, const capture::LaunchKey& key, const std::vector<std::string>& metrics,
                        std::span<const cupti::SassHit> hits) {
  const auto lock = lock_within(kLockPatience, mutex_);
  if (!lock) throw Error("counts of instructions are lost", "the capture was busy for too long", "");
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<capture::SassValue>> values;  // by function and offset
  for (const cupti::SassHit& hit : hits) {
    const std::uint32_t function = functions_.id_of(hit.cubin_crc, hit.function);
    std::vector<capture::SassValue>& all = values[{function, hit.offset}];
    if (all.empty()) sources_.sampled(function, hit.cubin_crc, hit.offset);
    all.push_back({hit.metric, hit.value});
  }
  const capture::PcNamesRecord names{.reasons = {}, .functions = functions_.take_new(), .files = {}, .lines = {}};
  if (!names.functions.empty()) recorder_.append(names);
  capture::SassCountsRecord record{.launch_index = launch_index, .key = key, .metrics = metrics, .counts = {}};
  for (auto& [place, its_own] : values) record.counts.push_back({place.first, place.second, std::move(its_own)});
  recorder_.append(record);
  append_lines(kTimeForLines);
  append_code(kTimeForCode);
}

void PcSampling::end(Context& context) {
  drain(context);
  const cupti::PcTotals rest = context.sampler->finish([&](const cupti::PcHit& hit) { take(context, hit); });
  context.table.add(rest);
  if (rest.overflows > 0) context.loses_samples = true;
  append(context);
  context.sampler.reset();
}

// Names first.
void PcSampling::append(Context& context) {
  if (context.table.empty() || (context.table.instructions() == 0 && !recorder_.usable()))
    return;  // no launch of the program's yet
  capture::PcNamesRecord names;
  if (!std::exchange(reasons_appended_, true)) {
    for (const auto& [index, name] : context.sampler->reasons()) names.reasons.push_back({index, name});
  }
  names.functions = functions_.take_new();
  if (!names.reasons.empty() || !names.functions.empty()) recorder_.append(names);
  recorder_.append(context.table.take(context.device, context.sampler->period_log2()));
  append_lines(kTimeForLines);
  append_code(kTimeForCode);
}

void PcSampling::append_lines(std::chrono::milliseconds time) {
  const capture::PcNamesRecord found = sources_.find_lines(functions_.all(), time);
  if (!found.lines.empty()) recorder_.append(found);
}

// Without it reports show offsets in the place of instructions: no reason to end sampling.
void PcSampling::append_code(std::chrono::milliseconds time) {
  try {
    for (const capture::PcCodeRecord& code : sources_.take_code(functions_.all(), time)) recorder_.append(code);
  } catch (const std::exception& error) {
    sources_.forget_code();
    say("machine code of sampled kernels is not kept from here on", error);
  }
}

void PcSampling::finish() noexcept {
  if (forgotten_) return;
  {
    const auto lock = lock_within(kLockPatience, mutex_);
    if (!lock || std::exchange(stopping_, true)) return;
    stopping_changed_.notify_all();
  }
  thread_.join();
  const std::lock_guard lock(mutex_);
  if (!active_) return contexts_.clear();
  try {
    for (auto& [handle, context] : contexts_) end_for_good(context);
    contexts_.clear();
    append_lines(kTimeForLinesAtEnd);
    append_code(kTimeForCodeAtEnd);
    if (sources_.modules_left_out() > 0 && sources_.functions_with_code() < functions_.all().size()) {
      recorder_.note(capture::Severity::info, "machine code was not kept of all kernels that were sampled or counted",
                     fmt::format("{} modules were too large", sources_.modules_left_out()), "");
    }
    if (sources_.left() > 0) {
      recorder_.note(capture::Severity::info, "source lines were not looked up for all instructions that were sampled or counted",
                     fmt::format("time did not suffice for {}", sources_.left()), "");
    }
  } catch (const std::exception& error) {
    fail("the end of PC sampling was lost", error);
  }
}

void PcSampling::fail(const char* what, const std::exception& error) noexcept {
  active_ = false;
  say(what, error);
}

void PcSampling::say(const char* what, const std::exception& error) noexcept {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const std::string remedy = ours != nullptr ? ours->remedy() : "";
  recorder_.note(capture::Severity::error, what, ours != nullptr && !ours->detail().empty() ? ours->detail() : error.what(),
                 remedy.empty() && period_log2_ ? kRemedy : remedy);
}

}  // namespace dlkprof::inject
