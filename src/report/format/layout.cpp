#include "report/format/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace dlkprof::report {
namespace {

struct Scale {
  double least;  // the magnitude from which it is taken
  const char* unit;
};
constexpr std::array kBytes{Scale{1e12, "TB"}, Scale{1e9, "GB"}, Scale{1e6, "MB"}, Scale{1e3, "KB"}};
constexpr std::array kHertz{Scale{1e9, "GHz"}, Scale{1e6, "MHz"}, Scale{1e3, "kHz"}};
constexpr std::array kOperations{Scale{1e12, "Top"}, Scale{1e9, "Gop"}, Scale{1e6, "Mop"}};
constexpr std::array kTime{Scale{1e9, "s"}, Scale{1e6, "ms"}, Scale{1e3, "us"}};

constexpr double kLongest = 1e13;      // from here on a number is too long to read, and for its column
constexpr double kMostDecimals = 1e9;  // from here on decimals say nothing

// Separators in what stands before the point.
std::string separated_number(const std::string& digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  return grouped_digits(digits.substr(0, point)) + digits.substr(point);
}

// 790, 79.0, 7.90: what a cell needs of a figure. Whole numbers keep all their digits.
std::string three_figures(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= kLongest || (magnitude > 0 && magnitude < 0.005)) return fmt::format("{:.2g}", value);
  const bool whole = value == std::floor(value);
  const int decimals = whole || magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{}{}", value < 0 ? "-" : "", separated_number(fmt::format("{:.{}f}", magnitude, decimals)));
}

struct Scales {
  std::string_view base;
  std::span<const Scale> list;
};

// Those of a unit such as "byte", "byte/s" or "ns/iteration"; none where it is not scaled.
std::optional<Scales> scales_of(std::string_view unit) {
  const std::string_view base = unit.substr(0, unit.find('/'));
  if (base == "byte" || base == "B") return Scales{base, kBytes};
  if (base == "hz" || base == "Hz") return Scales{base, kHertz};
  if (base == "ns") return Scales{base, kTime};
  if (base == "op") return Scales{base, kOperations};
  return std::nullopt;
}

// The characters [from, to) of UTF-8 text.
std::string characters(std::string_view text, std::size_t from, std::size_t to) {
  std::string out;
  std::size_t at = 0;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) ++at;
    if (at > from && at <= to) out += byte;
  }
  return out;
}

std::string number(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= kLongest) return fmt::format("{:.3e}", value);
  if (magnitude > 0 && magnitude < 0.005) return fmt::format("{:.2g}", value);
  const bool whole = value == std::floor(value) || magnitude >= kMostDecimals;
  const std::string digits = fmt::format("{:.{}f}", magnitude, whole ? 0 : 2);
  return (value < 0 ? "-" : "") + separated_number(digits);
}

// What follows `base` in `unit`: of "byte/s" and "byte" it is "/s". None where `unit` has another base.
std::optional<std::string_view> rest_of(std::string_view unit, std::string_view base) {
  if (!unit.starts_with(base)) return std::nullopt;
  unit.remove_prefix(base.size());
  if (!unit.empty() && unit.front() != '/') return std::nullopt;
  return unit;
}

Quantity scaled(double value, std::string_view unit, std::string_view rest, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    if (std::abs(value) < scale.least) continue;
    return {number(std::round(value / scale.least * 100) / 100), std::string(scale.unit).append(rest)};
  }
  return {number(value), std::string(unit)};
}

// The path, and what follows each of its slashes, the longest first; less what is wider than `width` for sure, as a character has
// four bytes at most. A hostile path has slashes by the hundred thousand.
std::vector<std::string_view> ends_of(std::string_view path, std::size_t width) {
  std::vector<std::string_view> ends;
  const std::size_t most = 4 * width;
  if (path.size() <= most) ends.push_back(path);
  for (std::size_t at = path.find('/', std::max<std::size_t>(1, path.size() - std::min(path.size(), most)));
       at != std::string_view::npos; at = path.find('/', at + 1)) {
    ends.push_back(path.substr(at + 1));
  }
  return ends;
}

// "features/2/.../aten::convolution" of "/Cnn/features/2/aten::conv2d/aten::convolution": modules come before the first function
// of a namespace. As many of the modules as there is room for; empty where there are none, or no room for one.
std::string modules_and_last(const std::string& path, std::size_t width) {
  const std::size_t first = path.rfind('/', path.find("::"));
  const std::size_t last = path.rfind('/');
  if (path.find("::") == std::string::npos || first == 0 || first == std::string::npos) return "";
  const std::string_view modules = std::string_view(path).substr(0, first);
  const std::string function = path.substr(last + 1);
  const std::size_t colons = function.find("::");
  const std::string base = colons == std::string::npos ? function : function.substr(colons + 2);
  for (const std::string_view some : ends_of(modules, width)) {
    for (const std::string& name : {function, base}) {
      std::string text = std::string(some) + (first == last ? "/" : "/.../") + name;
      if (display_width(text) <= width) return text;
    }
  }
  // A function of a long name: the end of it, behind modules of at most half the width.
  const std::size_t length = display_width(base);
  for (const std::string_view some : ends_of(modules, width)) {
    const std::string parents = std::string(some) + "/...";
    const std::size_t taken = display_width(parents);
    if (taken <= width / 2 && width - taken < length) return parents + characters(base, length - (width - taken), length);
  }
  return "";
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t have = display_width(text);
  if (have < width) text.insert(0, width - have, ' ');
  return text;
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t have = display_width(text);
  if (have < width) text.append(width - have, ' ');
  return text;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t start) {
  std::string out;
  std::size_t column = start;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t length = display_width(word);
    if (!out.empty() && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

std::string wrap_shortened(std::string_view text, std::size_t width, std::size_t indent, std::size_t start) {
  std::string out;
  for (const std::string& line : split(wrap(text, width, indent, start), '\n')) {
    out += out.empty() ? shorten_middle(line, width - std::min(width, start)) : "\n" + shorten_middle(line, width);
  }
  return out;
}

Quantity humanize(double value, std::string_view unit) {
  if (!std::isfinite(value)) return {"-", std::string(unit)};
  for (const std::string_view base : {"byte", "B"}) {
    if (const auto rest = rest_of(unit, base)) return scaled(value, unit, *rest, kBytes);
  }
  for (const std::string_view base : {"hz", "Hz"}) {
    if (rest_of(unit, base)) return scaled(value, "Hz", "", kHertz);
  }
  if (unit == "ns") return scaled(value, unit, "", kTime);
  return {number(value), std::string(unit)};
}

std::string bold(const std::string& text, const Page& page) { return page.styled ? "\033[1m" + text + "\033[0m" : text; }

std::string short_quantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "-";
  if (unit == "%") return fmt::format("{:.1f} %", value);
  const auto scales = scales_of(unit);
  if (!scales) return three_figures(value);
  const std::string rest(unit.substr(scales->base.size()));
  // Rounding may carry into the next scale: 999.7 us are 1.00 ms.
  for (const Scale& scale : scales->list) {
    if (std::abs(value) >= scale.least * 0.9995) return three_figures(value / scale.least) + " " + scale.unit + rest;
  }
  return three_figures(value) + " " + std::string(scales->base) + rest;
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  const std::string shown = printable(text);
  const std::size_t length = display_width(shown);
  if (length <= width) return shown;
  constexpr std::string_view kGap = "...";
  if (width <= kGap.size()) return std::string(kGap.substr(0, width));
  const std::size_t kept = width - kGap.size();
  const std::size_t head = kept / 3;
  return std::string(characters(shown, 0, head)).append(kGap).append(characters(shown, length - (kept - head), length));
}

std::string shorten_path(std::string_view path, std::size_t width) {
  const std::string shown = printable(path);
  if (display_width(shown) <= width) return shown;
  std::string telling = modules_and_last(shown, width);
  if (!telling.empty()) return telling;
  for (const std::string_view end : ends_of(shown, width)) {
    if (end.size() < shown.size() && display_width(end) + 4 <= width) return ".../" + std::string(end);
  }
  return shorten_middle(shown, width);
}

std::string day_text(std::int64_t unix_ns) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(unix_ns)};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
  return fmt::format("{}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::string with_separators(std::uint64_t value) { return grouped_digits(fmt::format("{}", value)); }

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return with_separators(count) + " " + (count == 1 ? one : many);
}

std::string duration(std::uint64_t nanoseconds) {
  const Quantity quantity = humanize(static_cast<double>(nanoseconds), "ns");
  return quantity.value + " " + quantity.unit;
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.1 ? "below 0.1 %" : fmt::format("{:.1f} %", share);
}

}  // namespace dlkprof::report
