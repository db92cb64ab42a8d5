// Timelines made by hand, in a few words. Things may be added in any order; build() sorts and joins them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "model/timeline/timeline.h"

namespace dlkprof::test {

// There are one process, one thread and one device to begin with, each number 0.
class TimelineBuilder {
 public:
  TimelineBuilder() {
    made_.strings.emplace_back();
    process();
    thread(0);
    device();
  }

  std::uint32_t process() {
    made_.processes.emplace_back();
    return last(made_.processes);
  }
  std::uint32_t thread(std::uint32_t process = 0) {
    made_.threads.push_back({process, static_cast<std::uint32_t>(100 + made_.threads.size())});
    return last(made_.threads);
  }
  std::uint32_t device() {
    made_.devices.emplace_back();
    return last(made_.devices);
  }

  struct InDomain {
    std::string domain;
    capture::RangeKind kind = capture::RangeKind::push_pop;
  };
  TimelineBuilder& range(const std::string& message, std::int64_t start, std::int64_t end, std::uint32_t thread = 0) {
    return range(message, start, end, thread, {});
  }
  TimelineBuilder& range(const std::string& message, std::int64_t start, std::int64_t end, std::uint32_t thread,
                         const InDomain& in) {
    model::Range range;
    range.start_ns = start;
    range.end_ns = end;
    range.thread = thread;
    range.message = string(message);
    range.domain = string(in.domain);
    range.kind = in.kind;
    made_.ranges.push_back(range);
    return *this;
  }

  // A number to give to work().
  std::uint32_t call(const std::string& name, std::int64_t start, std::int64_t end, std::uint32_t thread = 0) {
    made_.calls.push_back({start, end, model::kNone, thread, string(name)});
    return last(made_.calls);
  }

  // Work of a call; a name such as "[CUDA memcpy HtoD]" is a copy's.
  TimelineBuilder& activity(std::uint32_t call, const std::string& kernel, std::int64_t start, std::int64_t end,
                            std::uint32_t device = 0) {
    model::Activity activity;
    activity.start_ns = start;
    activity.end_ns = end;
    activity.call = call;
    activity.kernel = kernel_of(kernel);
    activity.device = device;
    if (made_.kernels[activity.kernel].kind == capture::ActivityKind::kernel) activity.config = config_of(kernel, device);
    made_.activities.push_back(activity);
    return *this;
  }
  // What was captured at a time on a thread, into a graph whose capture began at another time on its own: a number for
  // graph_work().
  std::uint32_t node(std::int64_t captured, std::uint32_t graph, std::int64_t began, std::uint32_t thread = 0,
                     std::uint32_t began_on = 0, bool in_child = false) {
    made_.graph_nodes.push_back({.graph = graph, .in_child = in_child});
    captured_.push_back({captured, began, thread, began_on});
    return last(made_.graph_nodes);
  }
  TimelineBuilder& graph_work(std::uint32_t call, std::uint32_t node, const std::string& kernel, std::int64_t start,
                              std::int64_t end) {
    activity(call, kernel, start, end);
    made_.activities.back().graph_node = node;
    made_.activities.back().in_graph = true;
    return *this;
  }
  // A kernel and its launch, which takes 2 ns.
  TimelineBuilder& launch(const std::string& kernel, std::int64_t call_start, std::int64_t start, std::int64_t end,
                          std::uint32_t thread = 0, std::uint32_t device = 0) {
    return activity(call("cuLaunchKernel", call_start, call_start + 2, thread), kernel, start, end, device);
  }
  // What a kernel's configuration was measured to.
  TimelineBuilder& measured(const std::string& kernel, const std::string& metric, std::vector<double> values,
                            std::uint32_t device = 0) {
    made_.measured[config_of(kernel, device)][metric] = std::move(values);
    return *this;
  }

  // What its samples say.
  TimelineBuilder& sampled(const std::string& kernel, const std::string& metric, const model::SampledFigure& figure) {
    made_.measured[config_of(kernel, 0)][metric] = {figure.mean};
    made_.sampled[config_of(kernel, 0)][metric] = figure;
    return *this;
  }

  // How: of all launches of a kernel's configuration that were measured, in the order of their values.
  TimelineBuilder& launches_measured(const std::string& kernel, std::vector<model::MeasuredLaunch> launches,
                                     std::uint32_t device = 0) {
    made_.measured_launches[config_of(kernel, device)] = std::move(launches);
    return *this;
  }

  [[nodiscard]] model::Timeline build() const {
    model::Timeline timeline = made_;
    for (const auto& [name, config] : configs_) {
      if (const auto kernel = kernels_.find(name.first); kernel != kernels_.end())
        timeline.configs[config].kernel = kernel->second;
    }
    const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
    std::stable_sort(timeline.ranges.begin(), timeline.ranges.end(), by_start);
    sort_calls(timeline);
    std::stable_sort(timeline.activities.begin(), timeline.activities.end(), by_start);
    join(timeline);
    for (std::size_t i = 0; i < captured_.size(); ++i) {
      const auto& [captured, began, thread, began_on] = captured_[i];
      timeline.graph_nodes[i].range = range_at(timeline, captured, thread);
      timeline.graph_nodes[i].capture_range = range_at(timeline, began, began_on);
    }
    set_bounds(timeline);
    return timeline;
  }

 private:
  template <typename T>
  static std::uint32_t last(const std::vector<T>& all) {
    return static_cast<std::uint32_t>(all.size() - 1);
  }

  std::uint32_t string(const std::string& text) {
    if (text.empty()) return 0;
    const auto [known, is_new] = strings_.try_emplace(text, static_cast<std::uint32_t>(made_.strings.size()));
    if (is_new) made_.strings.push_back(text);
    return known->second;
  }
  std::uint32_t kernel_of(const std::string& name) {
    const auto [known, is_new] = kernels_.try_emplace(name, static_cast<std::uint32_t>(made_.kernels.size()));
    if (is_new) {
      const auto kind = name.starts_with("[CUDA memcpy")   ? capture::ActivityKind::copy
                        : name.starts_with("[CUDA memset") ? capture::ActivityKind::set
                                                           : capture::ActivityKind::kernel;
      made_.kernels.push_back({kind, name, name, name});
    }
    return known->second;
  }
  std::uint32_t config_of(const std::string& kernel, std::uint32_t device) {
    const auto [known, is_new] = configs_.try_emplace({kernel, device}, static_cast<std::uint32_t>(made_.configs.size()));
    if (is_new) made_.configs.emplace_back().key.device = device;
    return known->second;
  }

  static void sort_calls(model::Timeline& timeline) {
    std::vector<std::uint32_t> order(timeline.calls.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return timeline.calls[a].start_ns < timeline.calls[b].start_ns; });
    std::vector<model::Call> calls;
    std::vector<std::uint32_t> position(order.size());
    for (const std::uint32_t i : order) {
      position[i] = static_cast<std::uint32_t>(calls.size());
      calls.push_back(timeline.calls[i]);
    }
    timeline.calls = std::move(calls);
    for (model::Activity& activity : timeline.activities)
      activity.call = activity.call == model::kNone ? activity.call : position[activity.call];
  }

  // Parents of ranges and ranges of calls: on each thread the one that began last of those that are open.
  static void join(model::Timeline& timeline) {
    std::vector<std::vector<std::uint32_t>> open(timeline.threads.size());
    const auto innermost = [&](std::uint32_t thread, std::int64_t now) {
      std::erase_if(open[thread], [&](std::uint32_t range) { return timeline.ranges[range].end_ns <= now; });
      return open[thread].empty() ? model::kNone : open[thread].back();
    };
    std::size_t next = 0;
    const auto open_until = [&](std::int64_t now) {
      for (; next < timeline.ranges.size() && timeline.ranges[next].start_ns <= now; ++next) {
        model::Range& range = timeline.ranges[next];
        range.parent = innermost(range.thread, range.start_ns);
        open[range.thread].push_back(static_cast<std::uint32_t>(next));
      }
    };
    for (model::Call& call : timeline.calls) {
      open_until(call.start_ns);
      call.range = innermost(call.thread, call.start_ns);
    }
    open_until(std::numeric_limits<std::int64_t>::max());
  }

  static std::uint32_t range_at(const model::Timeline& timeline, std::int64_t now, std::uint32_t thread) {
    std::uint32_t innermost = model::kNone;
    for (std::uint32_t i = 0; i < timeline.ranges.size(); ++i) {
      const model::Range& range = timeline.ranges[i];
      if (range.thread == thread && range.start_ns <= now && now < range.end_ns) innermost = i;
    }
    return innermost;
  }

  static void set_bounds(model::Timeline& timeline) {
    bool first = true;
    const auto extend = [&](const auto& events) {
      for (const auto& event : events) {
        timeline.first_ns = first ? event.start_ns : std::min(timeline.first_ns, event.start_ns);
        timeline.last_ns = first ? event.end_ns : std::max(timeline.last_ns, event.end_ns);
        first = false;
      }
    };
    extend(timeline.ranges);
    extend(timeline.calls);
    extend(timeline.activities);
  }

  struct Captured {
    std::int64_t captured = 0, began = 0;
    std::uint32_t thread = 0, began_on = 0;
  };

  model::Timeline made_;
  std::vector<Captured> captured_;  // of each of graph_nodes
  std::map<std::string, std::uint32_t> strings_, kernels_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> configs_;
};

}  // namespace dlkprof::test
