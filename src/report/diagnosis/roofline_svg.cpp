#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "report/diagnosis/reports.h"
#include "report/diagnosis/roofline_points.h"
#include "report/format/layout.h"
#include "report/format/markup.h"

namespace dlkprof::report {
namespace {

// Of the picture, in its own units; the plot lies inside the margins.
constexpr double kPictureWidth = 960, kPictureHeight = 600, kLeft = 90, kRight = 230, kTop = 50, kBottom = 70;
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kMostPoints = 500;  // by GPU time: more could not be told apart
constexpr double kLeastRadius = 3, kMostRadius = 14;
constexpr std::size_t kNamedPoints = 5;     // the largest
constexpr std::size_t kNameOnPicture = 32;  // columns
constexpr double kNameLetter = 6, kNameLine = 12;
// Told apart by those who see few colours too (Okabe and Ito, Color Universal Design, 2008).
constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

constexpr const char* kPictureStyle =
    "text{font:13px sans-serif;fill:#222}.t{font-size:16px;font-weight:bold}.g{stroke:#ddd;stroke-width:1}"
    ".r{stroke:#444;stroke-width:1.5;fill:none}.p{fill-opacity:.65;stroke:#fff;stroke-width:.5}.n{font-size:11px;"
    "paint-order:stroke;stroke:#fff;stroke-width:3px}";

std::string name_text(const std::string& text) { return markup_escaped(printable(text, kLongestName)); }

// A logarithmic axis of whole decades, on a stretch of the picture.
class Axis {
 public:
  Axis(double at_least, double at_most) : from_(at_least), to_(at_most) {}
  void include(double value) {
    least_ = std::min(least_, std::floor(std::log10(value)));
    most_ = std::max(most_, std::ceil(std::log10(value)));
  }
  [[nodiscard]] double at(double value) const {
    const double width = std::max(most_ - least_, 1.0);
    return from_ + (to_ - from_) * (std::log10(value) - least_) / width;
  }
  [[nodiscard]] int first() const { return static_cast<int>(least_); }
  [[nodiscard]] int last() const { return static_cast<int>(std::max(most_, least_ + 1)); }

 private:
  double from_, to_;
  double least_ = std::numeric_limits<double>::max(), most_ = std::numeric_limits<double>::lowest();
};

// A point per kernel: that of its dominant precision.
bool can_be_shown(const RooflineRow& row) {
  return row.kernel != nullptr && row.is_dominant() && row.point->intensity && *row.point->intensity > 0 && row.point->rate > 0 &&
         std::isfinite(*row.point->intensity) && std::isfinite(row.point->rate);
}

std::vector<RooflineRow> points_of(const model::Profile& profile) {
  std::vector<RooflineRow> points = roofline_rows(profile);
  std::erase_if(points, [](const RooflineRow& row) { return !can_be_shown(row); });
  std::stable_sort(points.begin(), points.end(),
                   [](const RooflineRow& a, const RooflineRow& b) { return a.gpu().total > b.gpu().total; });
  if (points.size() > kMostPoints) points.resize(kMostPoints);
  return points;
}

// 4.81e12 byte/s as "4.81 TB/s".
std::string rate_text(double rate, const char* unit) {
  constexpr std::array kPrefixes{"", "K", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  for (; rate >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) rate /= 1000;
  return fmt::format("{:.3g} {}{}", rate, kPrefixes.at(prefix), unit);
}

// Floating-point operations, or those of integers and bits.
const char* unit_of(std::string_view precision) { return precision.find("INT") == std::string_view::npos ? "FLOP/s" : "OP/s"; }

// "NVIDIA H200, 2026-11-22"
std::string origin_text(const model::Timeline& timeline) {
  std::string text = timeline.devices.empty() ? "" : name_text(timeline.devices.front().record.name);
  const std::int64_t start_ns = timeline.processes.empty() ? 0 : timeline.processes.front().record.start_unix_ns;
  if (start_ns <= 0) return text;
  return text + (text.empty() ? "" : ", ") + day_text(start_ns);
}

std::string time_text(const RooflineRow& row) {
  return duration(static_cast<std::uint64_t>(std::max<std::int64_t>(row.gpu().total, 0)));
}

class Picture {
 public:
  Picture(const model::Profile& profile, std::vector<RooflineRow> points) : profile_(profile), points_(std::move(points)) {
    for (const RooflineRow& row : points_) include(row);
    include_roofs();
  }

  std::string draw() {
    fmt::format_to(out(), R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img">)", kPictureWidth,
                   kPictureHeight);
    text_ += fmt::format("\n<title>Roofline</title>\n<style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
                         kPictureStyle);
    fmt::format_to(out(), "<text class=\"t\" x=\"{}\" y=\"28\">Roofline of the kernels measured</text>\n", kLeft);
    fmt::format_to(out(), "<text text-anchor=\"end\" x=\"{}\" y=\"28\">{}</text>\n", kPictureWidth - 20,
                   origin_text(profile_.timeline));
    if (points_.empty()) {
      fmt::format_to(out(), "<text x=\"{}\" y=\"{}\">Nothing to show: collect it with --section roofline</text>\n", kLeft,
                     kPictureHeight / 2);
    } else {
      draw_axes();
      draw_roofs();
      for (const RooflineRow& row : points_) draw_point(row);
      for (std::size_t i = 0; i < std::min(kNamedPoints, points_.size()); ++i) draw_name(points_[i]);
      draw_legend();
    }
    return std::move(text_) + "</svg>\n";
  }

 private:
  struct MemoryRoof {
    const char* name;
    double rate = 0;  // byte/s
  };
  struct Name {
    double x, width, y;
  };

  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  void include(const RooflineRow& row) {
    x_.include(*row.point->intensity);
    y_.include(row.point->rate);
    if (row.point->compute) {
      y_.include(row.point->compute->rate);
      double& peak = peaks_[row.point->precision];
      peak = std::max(peak, row.point->compute->rate);
    }
    const std::array of_memory{row.roofline.dram, row.roofline.l2, row.roofline.l1};
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (of_memory.at(i)) memory_.at(i).rate = std::max(memory_.at(i).rate, of_memory.at(i)->rate);
    }
    colours_.try_emplace(row.point->precision, kColours.at(colours_.size() % kColours.size()));
  }

  // Some of each roof of memory is seen, also left of all points.
  void include_roofs() {
    double highest = 0;
    for (const auto& [precision, peak] : peaks_) highest = std::max(highest, peak);
    for (const MemoryRoof& memory : memory_) {
      const double left = highest / memory.rate / 2;
      if (memory.rate > 0 && left > 0 && std::isfinite(left)) x_.include(left);
    }
  }

  void draw_axes() {
    for (int decade = x_.first(); decade <= x_.last(); ++decade) {
      const double x = x_.at(std::pow(10, decade));
      fmt::format_to(out(), "<line class=\"g\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>", x, kTop,
                     kPictureHeight - kBottom);
      fmt::format_to(out(), "<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{:g}</text>\n", x, kPictureHeight - kBottom + 20,
                     std::pow(10, decade));
    }
    for (int decade = y_.first(); decade <= y_.last(); ++decade) {
      const double y = y_.at(std::pow(10, decade));
      fmt::format_to(out(), "<line class=\"g\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/>", y, kLeft,
                     kPictureWidth - kRight);
      fmt::format_to(out(), "<text text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft - 8, y + 4,
                     rate_text(std::pow(10, decade), ""));
    }
    fmt::format_to(out(), "<text text-anchor=\"middle\" x=\"{}\" y=\"{}\">Arithmetic intensity (FLOP per byte of DRAM)</text>\n",
                   (kLeft + kPictureWidth - kRight) / 2, kPictureHeight - 20);
    fmt::format_to(out(), "<text text-anchor=\"middle\" transform=\"translate(22 {}) rotate(-90)\">Performance (FLOP/s)</text>\n",
                   (kTop + kPictureHeight - kBottom) / 2);
  }

  // A line cut to the plot: both of its ends at intensities inside it.
  void draw_line(double x1, double y1, double x2, double y2) {
    fmt::format_to(out(), "<line class=\"r\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x_.at(x1), y_.at(y1),
                   x_.at(x2), y_.at(y2));
  }

  void draw_roofs() {
    const double left = std::pow(10, x_.first()), right = std::pow(10, x_.last());
    double highest = 0, slowest = 0;
    for (const MemoryRoof& memory : memory_) {
      if (memory.rate > 0 && (slowest <= 0 || memory.rate < slowest)) slowest = memory.rate;
    }
    for (const auto& [precision, peak] : peaks_) {
      const double ridge = slowest > 0 ? std::clamp(peak / slowest, left, right) : left;
      highest = std::max(highest, peak);
      draw_line(std::min(ridge, right), peak, right, peak);
      fmt::format_to(out(), "<text x=\"{}\" y=\"{:.1f}\">{} {}</text>\n", kPictureWidth - kRight + 6, y_.at(peak) + 4,
                     name_text(precision), rate_text(peak, unit_of(precision)));
    }
    if (highest <= 0) highest = std::pow(10, y_.last());
    for (const MemoryRoof& memory : memory_) draw_memory(memory, highest);
  }

  // A roof of memory, with its name on the line.
  void draw_memory(const MemoryRoof& memory, double highest) {
    if (!(memory.rate > 0)) return;
    const double from = std::max(std::pow(10, x_.first()), std::pow(10, y_.first()) / memory.rate);
    const double to = std::min(std::pow(10, x_.last()), highest / memory.rate);
    if (!(from < to)) return;
    draw_line(from, from * memory.rate, to, to * memory.rate);
    const double angle = std::atan2(y_.at(to * memory.rate) - y_.at(from * memory.rate), x_.at(to) - x_.at(from));
    fmt::format_to(out(), "<text transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" x=\"8\" y=\"-5\">{} {}</text>\n",
                   x_.at(from), y_.at(from * memory.rate), angle * 180 / std::numbers::pi, memory.name,
                   rate_text(memory.rate, "B/s"));
  }

  [[nodiscard]] double radius_of(const RooflineRow& row) const {
    const auto most = static_cast<double>(std::max<std::int64_t>(points_.front().gpu().total, 1));
    const double share = std::clamp(static_cast<double>(row.gpu().total) / most, 0.0, 1.0);
    return kLeastRadius + (kMostRadius - kLeastRadius) * std::sqrt(share);  // the area is the time
  }

  // Beside its point, on the side where the plot has room, and below names that are there already.
  void draw_name(const RooflineRow& row) {
    const std::string name = shorten_middle(profile_.timeline.kernels[row.kernel->kernel].name, kNameOnPicture);
    const double x = x_.at(*row.point->intensity), gap = radius_of(row) + 3;
    const double width = kNameLetter * static_cast<double>(display_width(name));
    const bool is_left = x + gap + width > kPictureWidth - kRight;
    Name placed{is_left ? x - gap - width : x + gap, width, y_.at(row.point->rate) + 4};
    const auto hides = [&](const Name& other) {
      return placed.x < other.x + other.width && other.x < placed.x + width && std::abs(placed.y - other.y) < kNameLine;
    };
    while (std::any_of(names_.begin(), names_.end(), hides)) placed.y += 1;
    names_.push_back(placed);
    fmt::format_to(out(), "<text class=\"n\"{} x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", is_left ? " text-anchor=\"end\"" : "",
                   is_left ? x - gap : x + gap, placed.y, markup_escaped(name));
  }

  void draw_point(const RooflineRow& row) {
    fmt::format_to(out(), "<circle class=\"p\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"><title>",
                   x_.at(*row.point->intensity), y_.at(row.point->rate), radius_of(row), colours_.at(row.point->precision));
    text_ += name_text(profile_.timeline.kernels[row.kernel->kernel].name) + "\n" + name_text(profile_.fold.ops[row.op->op].name);
    fmt::format_to(out(), "\n{:.3g} FLOP/byte, {}", *row.point->intensity, time_text(row));
    for (const advise::RooflinePoint& point : row.roofline.points) {
      text_ += fmt::format("\n{}: {}", name_text(point.precision), rate_text(point.rate, unit_of(point.precision)));
    }
    text_ += "</title></circle>\n";
  }

  void draw_legend() {
    double y = kPictureHeight - kBottom - 20 * static_cast<double>(colours_.size()) - 30;
    for (const auto& [precision, colour] : colours_) {
      fmt::format_to(out(), "<circle cx=\"{}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/><text x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                     kPictureWidth - kRight + 14, y - 4, colour, kPictureWidth - kRight + 26, y, name_text(precision));
      y += 20;
    }
    fmt::format_to(
        out(), "<circle class=\"r\" cx=\"{}\" cy=\"{:.1f}\" r=\"{}\"/><text x=\"{}\" y=\"{:.1f}\">GPU time {}</text>\n",
        kPictureWidth - kRight + 14, y + 4, kMostRadius, kPictureWidth - kRight + 34, y + 8, time_text(points_.front()));
  }

  const model::Profile& profile_;
  std::vector<RooflineRow> points_;
  Axis x_{kLeft, kPictureWidth - kRight}, y_{kPictureHeight - kBottom, kTop};
  std::map<std::string, double> peaks_;  // by precision
  std::map<std::string, const char*> colours_;
  std::array<MemoryRoof, 3> memory_{MemoryRoof{"DRAM"}, MemoryRoof{"L2"}, MemoryRoof{"L1"}};
  std::vector<Name> names_;  // on the picture so far
  std::string text_;
};

}  // namespace

std::string roofline_svg(const model::Profile& profile) { return Picture(profile, points_of(profile)).draw(); }

}  // namespace dlkprof::report
