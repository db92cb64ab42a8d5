#include "job/clocks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "job/analysis.h"

namespace dlkprof::job {
namespace {

struct Point {
  double x = 0, y = 0;  // reference, other less reference; in ns from the first event
};

// Subtracted as whole numbers: doubles hold differences exactly, and not times since 1970. Unsigned: clocks come from files,
// which may say anything.
double difference_ns(std::int64_t a, std::int64_t b) {
  return static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)));
}

// A line through points by least squares; needs two that differ in x.
ClockFit line_through(const std::vector<Point>& points, double kept_variance) {
  const auto n = static_cast<double>(points.size());
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0, residuals = 0;
  for (const Point& p : points) {
    x_mean += p.x / n;
    y_mean += p.y / n;
  }
  for (const Point& p : points) {
    xx += (p.x - x_mean) * (p.x - x_mean);
    xy += (p.x - x_mean) * (p.y - y_mean);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  for (const Point& p : points) residuals += std::pow(p.y - y_mean - slope * (p.x - x_mean), 2);
  const double variance = residuals / std::max(1.0, n - 2) / kept_variance;
  constexpr double kStandardErrors = 4;  // of 10,000 ranks one is beyond
  return {y_mean, slope * 1e6, x_mean, kStandardErrors * std::sqrt(variance / n),
          xx > 0 ? kStandardErrors * std::sqrt(variance / xx) * 1e6 : 0};
}

// What near_line() leaves of the variance of normally distributed points: it takes distances of up to 2.45 standard deviations
// (their median is 0.674 of one, their MAD 0.400), 1 - 2 c pdf(c) / (2 cdf(c) - 1) of it.
constexpr double kVarianceNearLine = 0.90;

// Points without those whose distance from the line is an outlier: a collective that a rank left early.
std::vector<Point> near_line(const std::vector<Point>& points, const ClockFit& line) {
  std::vector<double> distances;
  for (const Point& p : points) distances.push_back(std::abs(p.y - line.offset_at(p.x)));
  const Robust all = robust(distances);
  std::vector<Point> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_outlier(distances[i], all, 0)) kept.push_back(points[i]);
  }
  return kept;
}

}  // namespace

std::optional<ClockFit> fit_clock(std::span<const ClockPair> pairs) {
  constexpr std::size_t kFewest = 3;
  if (pairs.size() < kFewest) return std::nullopt;
  const ClockPair& first = pairs.front();
  std::vector<Point> points;
  for (const ClockPair& pair : pairs) {
    points.push_back({difference_ns(pair.reference_ns, first.reference_ns), difference_ns(pair.other_ns, pair.reference_ns)});
  }
  ClockFit fit = line_through(points, 1);
  const std::vector<Point> kept = near_line(points, fit);
  if (kept.size() >= kFewest) fit = line_through(kept, kVarianceNearLine);
  fit.middle_ns += static_cast<double>(first.reference_ns);
  return fit;
}

}  // namespace dlkprof::job
