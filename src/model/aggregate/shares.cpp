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

// How much of a window is covered by each activity and those better than it. Intervals come by start, whatever their activity,
// and none is kept: there are millions.
class Cover {
 public:
  explicit Cover(const Span& window) : window_(window) { reached_.fill(window.start); }
  void add(Use activity, const Span& span) {
    const std::int64_t end = std::min(span.end, window_.end);
    for (std::size_t i = activity; i < kActivities; ++i) {
      const std::int64_t start = std::max(span.start, reached_[i]);
      if (start >= end) continue;
      covered_[i] += end - start;
      reached_[i] = end;
    }
  }
  [[nodiscard]] std::int64_t until(Use activity) const { return covered_[activity]; }
  // By the activity alone.
  [[nodiscard]] std::int64_t by(Use activity) const {
    return activity == 0 ? covered_[0] : covered_[activity] - covered_[activity - 1];
  }

 private:
  Span window_;
  std::array<std::int64_t, kActivities> reached_{}, covered_{};
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
  Sweep(const IterationSlice& slice, const Span& window)
      : slice_(slice),
        gpus_(std::max<std::size_t>(slice.timeline.devices.size(), 1), Cover(window)),
        of_cpu_{Source{cpu, find_cpu_activity(slice.timeline, window)}, Source{data_loading, find_data_loading(slice, window)}} {}

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
    if (slice_.timeline.kernels[activity.kernel].kind != capture::ActivityKind::kernel) return memory;
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

}  // namespace

Duration find_shares(const IterationSlice& slice) {
  const Span window{slice.fold.iterations[slice.first_iteration].start_ns, iteration_end_ns(slice.fold, slice.last_iteration)};
  Duration shares;
  if (window.end <= window.start) return shares;
  const std::vector<Cover> gpus = Sweep(slice, window).cover();
  const std::int64_t length = elapsed_ns(window.start, window.end);
  const double whole = static_cast<double>(length) * static_cast<double>(gpus.size());
  const auto share_of = [whole](std::int64_t ns) { return 100 * static_cast<double>(ns) / whole; };
  for (const Cover& gpu : gpus) {
    shares.tc += share_of(gpu.by(tc_kernel));
    shares.non_tc += share_of(gpu.by(other_kernel));
    shares.memory += share_of(gpu.by(memory));
    shares.gpu += share_of(gpu.until(memory));
    shares.dataloader += share_of(gpu.by(data_loading));
    // I/O: nothing measures it.
    shares.cpu += share_of(gpu.by(cpu));
    shares.other += share_of(length - gpu.until(cpu));
  }
  return shares;
}

}  // namespace dlkprof::model
