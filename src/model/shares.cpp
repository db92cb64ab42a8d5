// What the wall clock went into: a sweep for each GPU over unions of intervals (guide, 10.2).
#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string>
#include <utility>

#include "model/aggregate_parts.h"
#include "model/time_arithmetic.h"

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
  [[nodiscard]] const Spans& spans() const { return spans_; }

 private:
  Span window_;
  Spans spans_;
};

Spans unite(const Spans& a, const Spans& b, const Span& window) {
  SpanBuilder united(window);
  auto next_a = a.begin();
  auto next_b = b.begin();
  while (next_a != a.end() || next_b != b.end()) {
    const bool from_a = next_b == b.end() || (next_a != a.end() && next_a->start <= next_b->start);
    const Span& span = from_a ? *next_a++ : *next_b++;
    united.add(span.start, span.end);
  }
  return united.spans();
}

std::int64_t length(const Spans& spans) {
  return std::accumulate(spans.begin(), spans.end(), std::int64_t{0},
                         [](std::int64_t sum, const Span& span) { return sum + (span.end - span.start); });
}

// What a GPU does, best first: a time in which it does several counts for the first.
enum Activity : std::uint8_t { tc_kernel, other_kernel, memory };
constexpr std::size_t kActivities = 3;

// Types of ops that wait for training data, in lower case: PyTorch's "enumerate(DataLoader)#...", our own phase.
constexpr std::string_view kDataLoader = "dataloader";

bool is_data_loader(const Op& op) {
  std::string type = op.type;
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type.find(kDataLoader) != std::string::npos;
}

Spans find_data_loading(const Selection& selection, const Span& window) {
  const Fold& fold = selection.fold;
  std::vector<bool> loads(fold.ops.size());
  std::transform(fold.ops.begin(), fold.ops.end(), loads.begin(), is_data_loader);
  SpanBuilder spans(window);
  for (const OpInstance& instance : fold.instances) {
    if (instance.range == kNone || !loads[instance.op]) continue;
    spans.add(selection.timeline.ranges[instance.range].start_ns, selection.timeline.ranges[instance.range].end_ns);
  }
  return spans.spans();
}

Spans find_cpu_activity(const Timeline& timeline, const Span& window) {
  SpanBuilder ranges(window);
  SpanBuilder calls(window);
  for (const Range& range : timeline.ranges) ranges.add(range.start_ns, range.end_ns);
  for (const Call& call : timeline.calls) calls.add(call.start_ns, call.end_ns);
  return unite(ranges.spans(), calls.spans(), window);
}

using Gpu = std::array<SpanBuilder, kActivities>;

std::vector<Gpu> find_gpu_activity(const Selection& selection, const Span& window) {
  const SpanBuilder none(window);
  // The CPU's shares are of interest without any GPU too.
  std::vector<Gpu> gpus(std::max<std::size_t>(selection.timeline.devices.size(), 1), Gpu{none, none, none});
  for (const Work& work : selection.timeline.works) {
    if (!is_timed(work)) continue;
    const bool is_kernel = selection.timeline.kernels[work.kernel].kind == capture::WorkKind::kernel;
    const Activity activity = !is_kernel ? memory : selection.tensor_cores.of(work).uses ? tc_kernel : other_kernel;
    gpus.at(work.device).at(activity).add(work.start_ns, work.end_ns);
  }
  return gpus;
}

}  // namespace

Duration find_shares(const Selection& selection) {
  const Span window{selection.fold.iterations[selection.first_iteration].start_ns,
                    iteration_end_ns(selection.fold, selection.last_iteration)};
  Duration shares;
  if (window.end <= window.start) return shares;
  const Spans data_loading = find_data_loading(selection, window);
  const Spans cpu = find_cpu_activity(selection.timeline, window);
  const std::vector<Gpu> gpus = find_gpu_activity(selection, window);
  const double whole = static_cast<double>(elapsed_ns(window.start, window.end)) * static_cast<double>(gpus.size());
  for (const Gpu& gpu : gpus) {
    Spans all;
    std::int64_t so_far = 0;
    // Adds what `spans` cover beyond all before them.
    const auto add = [&](double& share, const Spans& spans) {
      all = unite(all, spans, window);
      const std::int64_t covered = length(all);
      share += 100 * static_cast<double>(covered - std::exchange(so_far, covered)) / whole;
    };
    add(shares.tc, gpu[tc_kernel].spans());
    add(shares.non_tc, gpu[other_kernel].spans());
    add(shares.memory, gpu[memory].spans());
    shares.gpu += 100 * static_cast<double>(so_far) / whole;
    add(shares.dataloader, data_loading);
    // I/O: nothing measures it.
    add(shares.cpu, cpu);
    add(shares.other, {window});
  }
  return shares;
}

}  // namespace dlkprof::model
