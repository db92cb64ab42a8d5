#include "cupti/sampling_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

using Names = std::vector<std::string>;

// None where they do not fit one pass, or some of them cannot be scheduled.
std::optional<CollectionPlan> single_pass(const Host& host, const Names& metrics) {
  try {
    CollectionPlan plan = host.plan(metrics);
    if (plan.passes == 1) return plan;
  } catch (const Error&) {  // offered each, but not together
  }
  return std::nullopt;
}

// Halves what does not fit: most lists fit as they are, and asking is dear.
void split(const Host& host, std::span<const std::string> metrics, SamplingPlan& plan) {
  if (metrics.empty()) return;
  if (auto fits = single_pass(host, {metrics.begin(), metrics.end()})) {
    plan.turns.push_back(std::move(*fits));
  } else if (metrics.size() == 1) {
    plan.unavailable.push_back(metrics.front());
  } else {
    split(host, metrics.first(metrics.size() / 2), plan);
    split(host, metrics.subspan(metrics.size() / 2), plan);
  }
}

// Turns that fit one pass together become one, as each then gets more of the time.
void join(const Host& host, std::vector<CollectionPlan>& turns) {
  std::vector<CollectionPlan> joined;
  for (CollectionPlan& turn : turns) {
    const bool found = std::ranges::any_of(joined, [&](CollectionPlan& other) {
      Names both = other.metrics;
      both.insert(both.end(), turn.metrics.begin(), turn.metrics.end());
      auto fits = single_pass(host, both);
      if (fits) other = std::move(*fits);
      return fits.has_value();
    });
    if (!found) joined.push_back(std::move(turn));
  }
  turns = std::move(joined);
}

void add_weights(const Host& host, CollectionPlan& turn) {
  Names weights;
  for (const std::string& metric : turn.metrics) {
    const auto weight = sampling_weight(metric);
    if (!weight || std::ranges::find(turn.metrics, *weight) != turn.metrics.end()) continue;
    if (std::ranges::find(weights, *weight) == weights.end() && host.offers(*weight)) weights.push_back(*weight);
  }
  if (weights.empty()) return;
  Names all = turn.metrics;
  all.insert(all.end(), weights.begin(), weights.end());
  if (auto fits = single_pass(host, all)) turn = std::move(*fits);
}

}  // namespace

SamplingPlan plan_sampling(const Host& host, const std::vector<capture::MetricRequest>& requests) {
  ResolvedMetrics resolved = host.resolve(requests);
  SamplingPlan plan;
  plan.unavailable = std::move(resolved.unavailable);
  split(host, resolved.names, plan);
  if (plan.turns.size() > 1) join(host, plan.turns);
  for (CollectionPlan& turn : plan.turns) add_weights(host, turn);
  return plan;
}

std::optional<std::string> sampling_weight(const std::string& metric) {
  const std::size_t unit_end = metric.find("__");
  if (unit_end == std::string::npos) return std::nullopt;
  const std::string unit = metric.substr(0, unit_end);
  if (metric.ends_with("_sector_hit_rate.pct")) return unit + "__t_sectors.sum";
  if (!metric.ends_with(".per_cycle_active") && !metric.ends_with(".pct_of_peak_sustained_active")) return std::nullopt;
  // A TPC has no counter of its own for active cycles among those that are read out in real time, but its multiprocessors have.
  if (unit.ends_with(".tpc")) return unit.substr(0, unit.size() - 3) + "sm__cycles_active.sum";
  return unit + "__cycles_active.sum";
}

}  // namespace dlkprof::cupti
