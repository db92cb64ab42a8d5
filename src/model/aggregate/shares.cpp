// What the wall clock went into: a sweep for each GPU over unions of intervals (guide, 10.2).
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "model/aggregate/aggregate_parts.h"
#include "model/fold/iterations.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

struct Span {
  std::int64_t start = 0, end = 0;
};
using Spans = std::vector<Span>;  // apart from one another, by start

// Joins intervals that come by start, cut to a window.
class SpanBuilder {
 public:
  explicit SpanBuilder(const Span& window) : window_(window) {}
  void add(std::int64_t start, std::int64_t end) {
    start = std::max(start, window_.start);
    end = std::min(end, window_.end);
    if (!spans_.empty() && start <= spans_.back().end) {
      spans_.back().end = std::max(spans_.back().end, end);
    } else if (start < end) {
      spans_.push_back({start, end});
    }
  }
  [[nodiscard]] Spans finish() && { return std::move(spans_); }

 private:
  Span window_;
  Spans spans_;
};

// What goes on, best first: a time in which there is several counts for the first. The first three are a GPU's.
enum Use : std::uint8_t { tc_kernel, other_kernel, memory, data_loading, cpu };
constexpr std::size_t kActivities = 5;

// How much of each of several windows, which follow one another, is covered by each activity and those better than it. Intervals
// come by start, whatever their activity, and none is kept: there are millions.
class Cover {
 public:
  // `borders`: the start of each window, then the end of the last one.
  explicit Cover(const std::vector<std::int64_t>& borders) : borders_(borders), covered_(borders.size() - 1) {
    reached_.fill(borders.front());
  }
  void add(Use activity, const Span& span) {
    const std::int64_t end = std::min(span.end, borders_.back());
    for (std::size_t i = activity; i < kActivities; ++i) {
      const std::int64_t start = std::max(span.start, reached_[i]);
      if (start >= end) continue;
      add_to_windows(i, start, end);
      reached_[i] = end;
    }
  }
  [[nodiscard]] std::int64_t until(std::size_t window, Use activity) const { return covered_[window][activity]; }
  // By the activity alone.
  [[nodiscard]] std::int64_t by(std::size_t window, Use activity) const {
    return activity == 0 ? until(window, activity) : covered_[window][activity] - covered_[window][activity - 1];
  }

 private:
  void add_to_windows(std::size_t activity, std::int64_t start, std::int64_t end) {
    std::size_t& window = window_[activity];
    while (borders_[window + 1] <= start) ++window;
    for (std::size_t i = window; start < end; ++i) {
      const std::int64_t stop = std::min(end, borders_[i + 1]);
      covered_[i][activity] += stop - start;
      start = stop;
    }
  }

  const std::vector<std::int64_t>& borders_;
  std::vector<std::array<std::int64_t, kActivities>> covered_;
  std::array<std::int64_t, kActivities> reached_{};
  std::array<std::size_t, kActivities> window_{};  // that it has reached
};

// Types of ops that wait for training data, in lower case: PyTorch's "enumerate(DataLoader)#...", our own phase.
constexpr std::string_view kDataLoader = "dataloader";

bool is_data_loader(const Op& op) {
  std::string type = op.type;
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type.find(kDataLoader) != std::string::npos;
}

Spans find_data_loading(const IterationSlice& slice, const Span& window) {
  const Fold& fold = slice.fold;
  std::vector<bool> loads(fold.ops.size());
  std::transform(fold.ops.begin(), fold.ops.end(), loads.begin(), is_data_loader);
  SpanBuilder spans(window);
  for (const OpInstance& instance : fold.instances) {
    if (instance.range == kNone || !loads[instance.op]) continue;
    spans.add(slice.timeline.ranges[instance.range].start_ns, slice.timeline.ranges[instance.range].end_ns);
  }
  return std::move(spans).finish();
}

Spans find_cpu_activity(const Timeline& timeline, const Span& window) {
  SpanBuilder spans(window);
  auto call = timeline.calls.begin();
  for (const Range& range : timeline.ranges) {
    for (; call != timeline.calls.end() && call->start_ns < range.start_ns; ++call) spans.add(call->start_ns, call->end_ns);
    spans.add(range.start_ns, range.end_ns);
  }
  for (; call != timeline.calls.end(); ++call) spans.add(call->start_ns, call->end_ns);
  return std::move(spans).finish();
}

// Goes through all activities at once, by start.
class Sweep {
 public:
  // The CPU's shares are of interest without any GPU too.
  Sweep(const IterationSlice& slice, const std::vector<std::int64_t>& borders)
      : slice_(slice),
        gpus_(std::max<std::size_t>(slice.timeline.devices.size(), 1), Cover(borders)),
        of_cpu_{Source{cpu, find_cpu_activity(slice.timeline, {borders.front(), borders.back()})},
                Source{data_loading, find_data_loading(slice, {borders.front(), borders.back()})}} {}

  std::vector<Cover> cover() {
    for (const Activity& activity : slice_.timeline.activities) {
      if (!is_timed(activity)) continue;
      add_cpu(activity.start_ns);
      gpus_.at(activity.device).add(activity_of(activity), {activity.start_ns, activity.end_ns});
    }
    add_cpu(kMostNs);
    return std::move(gpus_);
  }

 private:
  struct Source {
    Use activity;
    Spans spans;
    std::size_t next = 0;
  };

  [[nodiscard]] Use activity_of(const Activity& activity) const {
    if (!slice_.timeline.is_kernel(activity)) return memory;
    return slice_.tensor_cores.of(activity).uses ? tc_kernel : other_kernel;
  }

  // Adds to every GPU what begins on the CPU until then.
  void add_cpu(std::int64_t until_ns) {
    for (;;) {
      Source* earliest = nullptr;
      std::int64_t start = until_ns;
      for (Source& source : of_cpu_) {
        if (source.next == source.spans.size() || source.spans[source.next].start > start) continue;
        earliest = &source;
        start = source.spans[source.next].start;
      }
      if (earliest == nullptr) return;
      for (Cover& gpu : gpus_) gpu.add(earliest->activity, earliest->spans[earliest->next]);
      ++earliest->next;
    }
  }

  const IterationSlice& slice_;
  std::vector<Cover> gpus_;
  std::array<Source, 2> of_cpu_;
};

// Of each window; the sum over GPUs.
std::vector<WallUse> find_uses(const IterationSlice& slice, const std::vector<std::int64_t>& borders) {
  std::vector<WallUse> uses(borders.size() - 1);
  const std::vector<Cover> gpus = Sweep(slice, borders).cover();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::int64_t length = elapsed_ns(borders[i], borders[i + 1]);
    for (const Cover& gpu : gpus) {
      add_ns(uses[i].wall_ns, length);
      add_ns(uses[i].tc_ns, gpu.by(i, tc_kernel));
      add_ns(uses[i].non_tc_ns, gpu.by(i, other_kernel));
      add_ns(uses[i].memory_ns, gpu.by(i, memory));
      add_ns(uses[i].gpu_ns, gpu.until(i, memory));
      add_ns(uses[i].dataloader_ns, gpu.by(i, data_loading));
      add_ns(uses[i].cpu_ns, gpu.by(i, cpu));
      add_ns(uses[i].other_ns, length - gpu.until(i, cpu));
    }
  }
  return uses;
}

void add(WallUse& sum, const WallUse& one) {
  for (const auto member : {&WallUse::wall_ns, &WallUse::gpu_ns, &WallUse::tc_ns, &WallUse::non_tc_ns, &WallUse::memory_ns,
                            &WallUse::dataloader_ns, &WallUse::cpu_ns, &WallUse::other_ns})
    add_ns(sum.*member, one.*member);
}

// Of the iterations of one kind, which others lie between.
WallUse use_of_kind(const IterationSlice& slice) {
  std::vector<std::int64_t> borders;
  for (std::uint32_t i = slice.first_iteration; i <= slice.last_iteration; ++i)
    borders.push_back(slice.fold.iterations[i].start_ns);
  borders.push_back(std::max(borders.back(), iteration_end_ns(slice.fold, slice.last_iteration)));
  const std::vector<WallUse> uses = find_uses(slice, borders);
  WallUse sum;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (slice.has(slice.first_iteration + static_cast<std::uint32_t>(i))) add(sum, uses[i]);
  }
  return sum;
}

}  // namespace

Duration find_shares(const IterationSlice& slice) {
  const std::vector<std::int64_t> window{slice.fold.iterations[slice.first_iteration].start_ns,
                                         iteration_end_ns(slice.fold, slice.last_iteration)};
  if (window.back() <= window.front()) return {};
  const WallUse use = slice.kind == kNone ? find_uses(slice, window).front() : use_of_kind(slice);
  if (use.wall_ns <= 0) return {};
  const auto share_of = [&use](std::int64_t ns) { return 100 * static_cast<double>(ns) / static_cast<double>(use.wall_ns); };
  return {.gpu = share_of(use.gpu_ns),
          .tc = share_of(use.tc_ns),
          .non_tc = share_of(use.non_tc_ns),
          .memory = share_of(use.memory_ns),
          .dataloader = share_of(use.dataloader_ns),
          .io = 0,  // nothing measures it
          .cpu = share_of(use.cpu_ns),
          .other = share_of(use.other_ns)};
}

std::vector<WallUse> find_iteration_uses(const Timeline& timeline, const Fold& fold) {
  const auto last = static_cast<std::uint32_t>(fold.iterations.size() - 1);
  std::vector<std::int64_t> borders(fold.iterations.size());
  std::transform(fold.iterations.begin(), fold.iterations.end(), borders.begin(),
                 [](const Iteration& iteration) { return iteration.start_ns; });
  borders.push_back(std::max(borders.back(), iteration_end_ns(fold, last)));
  return find_uses({timeline, fold, 0, last, TensorCoreTable(timeline)}, borders);
}

}  // namespace dlkprof::model
