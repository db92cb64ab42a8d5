#include "export/measured_events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/aggregate/measured_launches.h"
#include "model/aggregate/provenance.h"
#include "model/fold/time_arithmetic.h"
#include "model/samples/student_t.h"

namespace dlkprof::exports {
namespace {

using LaunchName = std::pair<std::uint32_t, std::uint64_t>;  // process, launch index

void set_interval(EventFigure& figure, const model::Spread& spread) {
  const std::optional<double> mean = spread.mean(), deviation = spread.deviation();
  if (!mean || !deviation) return;
  const double half = model::student_t(spread.n() - 1) * *deviation / std::sqrt(static_cast<double>(spread.n()));
  if (!std::isfinite(half)) return;
  figure.low = *mean - half;
  figure.high = *mean + half;
}

MeasuredEvent event_of(const model::Timeline& timeline, const model::Launch& launch, const model::AlikeLaunches& alike) {
  MeasuredEvent event{.collected_by = model::replay_mode_text(launch.how->replay_mode),
                      .cache_control = model::cache_control_text(launch.how->cache_control)};
  for (const auto& [metric, values] : timeline.measured.at(launch.config)) {
    if (launch.position >= values.size() || !std::isfinite(values[launch.position])) continue;
    EventFigure figure{.metric = &metric, .value = values[launch.position]};
    if (const auto spread = alike.values.find(metric); spread != alike.values.end()) {
      figure.n = spread->second.n();
      set_interval(figure, spread->second);
    }
    event.figures.push_back(figure);
  }
  return event;
}

MeasuredEvent event_of(const std::map<std::string, model::SampledFigure>& figures) {
  MeasuredEvent event{.collected_by = "sampled"};
  for (const auto& [metric, sampled] : figures) {
    EventFigure figure{.metric = &metric, .value = sampled.mean, .n = sampled.samples};
    if (sampled.interval) {
      figure.low = sampled.mean - *sampled.interval;
      figure.high = sampled.mean + *sampled.interval;
    }
    if (std::isfinite(figure.value)) event.figures.push_back(figure);
  }
  return event;
}

// Finds the activities that figures are shown at.
class EventFinder {
 public:
  explicit EventFinder(const model::Profile& profile) : profile_(profile), timeline_(profile.timeline) {}

  std::vector<MeasuredEvent> find() {
    note_launches();
    for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) look_at(i);
    for (const auto& [config, activity] : sampled_) add(activity, event_of(timeline_.sampled.at(config)));
    std::sort(events_.begin(), events_.end(),
              [](const MeasuredEvent& a, const MeasuredEvent& b) { return a.activity < b.activity; });
    return std::move(events_);
  }

 private:
  void note_launches() {
    alike_ = model::alike_launches(timeline_);
    for (const model::Launch& launch : model::launches_of(timeline_)) {
      if (!timeline_.measured.contains(launch.config)) continue;
      launches_.emplace(LaunchName{timeline_.configs[launch.config].process, launch.how->launch_index}, launch);
      measured_configs_.insert(launch.config);
    }
  }

  void look_at(std::uint32_t index) {
    const model::Activity& activity = timeline_.activities[index];
    if (activity.config == model::kNone || !model::is_timed(activity)) return;
    if (measured_configs_.contains(activity.config)) {
      const auto found = launches_.find({timeline_.configs[activity.config].process, activity.launch_index});
      if (found == launches_.end() || found->second.config != activity.config) return;
      const model::Launch& launch = found->second;
      add(index, event_of(timeline_, launch, alike_.at({launch.config, launch.conditions()})));
    } else if (timeline_.sampled.contains(activity.config)) {
      const auto [place, is_new] = sampled_.emplace(activity.config, index);
      if (!is_new && !is_aggregated(place->second) && is_aggregated(index)) place->second = index;
    }
  }

  [[nodiscard]] bool is_aggregated(std::uint32_t activity) const {
    return profile_.aggregate.has(profile_.fold, profile_.fold.activity_iteration[activity]);
  }

  void add(std::uint32_t activity, MeasuredEvent event) {
    if (event.figures.empty()) return;
    event.activity = activity;
    events_.push_back(std::move(event));
  }

  const model::Profile& profile_;
  const model::Timeline& timeline_;
  model::AlikeTable alike_;
  std::map<LaunchName, model::Launch> launches_;
  std::set<std::uint32_t> measured_configs_;
  std::map<std::uint32_t, std::uint32_t> sampled_;  // configuration -> activity
  std::vector<MeasuredEvent> events_;
};

}  // namespace

std::vector<MeasuredEvent> measured_events(const model::Profile& profile) { return EventFinder(profile).find(); }

std::vector<std::string> metrics_of(const std::vector<MeasuredEvent>& events) {
  std::set<std::string> names;
  for (const MeasuredEvent& event : events) {
    for (const EventFigure& figure : event.figures) names.insert(*figure.metric);
  }
  return {names.begin(), names.end()};
}

}  // namespace dlkprof::exports
