#include "report/launches/kernel_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "advise/verdict.h"
#include "base/text.h"
#include "model/aggregate/measured_launches.h"
#include "model/aggregate/reliable.h"
#include "report/format/layout.h"
#include "report/launches/launch_text.h"
#include "report/launches/section_rows.h"

namespace dlkprof::report {
namespace {

// A row: 4 blanks, label, unit, value, and on a terminal a bar: 4 + 40 + 2 + 15 + 1 + 18 = 80 columns without one.
constexpr std::size_t kIndent = 4;
constexpr std::size_t kLabelWidth = 40;
constexpr std::size_t kUnitWidth = 15;
constexpr std::size_t kValueWidth = 18;
// With bars the label column gives room: 4 + 36 + 2 + 15 + 1 + 9 + 1 + 12.
constexpr std::size_t kBarWidth = 10;
constexpr std::size_t kBarLabelWidth = 36;
constexpr std::size_t kBarValueWidth = 9;

constexpr std::size_t kLongestHeading = 1000;  // columns

constexpr const char* kMark = "(!)";

using Figures = std::map<std::string, model::FigureValue>;

class Writer {
 public:
  Writer(const model::Timeline& timeline, const KernelTablesOptions& options)
      : timeline_(timeline), options_(options), alike_(model::alike_launches(timeline)) {}

  std::string launch(const model::Launch& launch) {
    text_.clear();
    unreliable_ = false;
    const model::Config& config = timeline_.configs[launch.config];
    const model::Values values = model::values_of(timeline_, launch);
    header(launch, config, values);
    const Figures figures = model::compute_figures(timeline_, config);
    for (const cupti::Section& one : options_.sections) section(one, config, values, figures);
    metrics(values);
    if (unreliable_) {
      text_ += "\n" + std::string(2, ' ') +
               wrap(kMark + (" " + model::unreliable_text(launch.how->passes)) + "; left out of means and verdicts", kTableWidth,
                    4, 2) +
               "\n";
    }
    return std::exchange(text_, {});
  }

 private:
  void header(const model::Launch& launch, const model::Config& config, const model::Values& values) {
    const capture::LaunchKey& key = config.key;
    const std::string base = base_name(timeline_, config), full = demangled_name(timeline_, config);
    text_ += bold(name_lines(base, 0)) + "\n";
    if (full != base) text_ += name_lines(full, 2) + "\n";
    line(fmt::format("grid {}, block {}{}{}", dim_text(key.grid), dim_text(key.block), cluster(key), dynamic_shared(key)));
    line(fmt::format("launch {}, occurrence {}; {}device {}, context {}, stream {}", launch.how->launch_index,
                     std::uint64_t{launch.how->occurrence} + 1, device_name(config), key.device, launch.how->context,
                     launch.how->stream));
    if (const std::string words = verdict(config, values); !words.empty()) line(words);
    line(how(*launch.how));
    if (const std::string words = spread(alike_.at({launch.config, launch.conditions()})); !words.empty()) line(words);
  }

  // In full, as names of library kernels differ at their ends: broken where the page ends.
  static std::string name_lines(const std::string& name, std::size_t indent) {
    const std::string margin(indent, ' ');
    std::string text = margin;
    std::size_t column = indent;
    for (const char byte : printable(name, kLongestHeading)) {
      const bool begins_character = (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
      if (begins_character && column++ == kTableWidth) {
        text += "\n" + margin;
        column = indent + 1;
      }
      text += byte;
    }
    return text;
  }

  // What its counters and its grid say holds it back; empty where they do not.
  std::string verdict(const model::Config& config, const model::Values& values) const {
    model::Counters counters;
    counters.values = values;
    advise::Evidence evidence;
    const capture::DeviceRecord* device = model::device_of(timeline_, config);
    if (device != nullptr && device->sm_count > 0) {
      const double blocks = double{1} * config.key.grid.x * config.key.grid.y * config.key.grid.z;
      evidence.grid_ns = 1000;
      evidence.filled_ns = 1000 * std::min(1.0, blocks / device->sm_count);
    }
    const advise::Judgement judgement = advise::judge(evidence, counters);
    if (judgement.verdict == advise::Verdict::unknown) return "";
    return fmt::format("{}: {}", advise::verdict_text(judgement.verdict), advise::reason_text(judgement));
  }

  static std::string cluster(const capture::LaunchKey& key) {
    return key.cluster == capture::Dim3{} ? "" : ", cluster " + dim_text(key.cluster);
  }
  static std::string dynamic_shared(const capture::LaunchKey& key) {
    if (key.dynamic_shared_bytes == 0) return "";
    const Quantity size = humanize(double{1} * key.dynamic_shared_bytes, "byte");
    return fmt::format(", {} {} dynamic shared memory", size.value, size.unit);
  }
  std::string device_name(const model::Config& config) const {
    const capture::DeviceRecord* device = model::device_of(timeline_, config);
    return device == nullptr ? "" : printable(device->name, 40) + ", ";
  }
  static std::string how(const model::MeasuredLaunch& launch) {
    const std::string mode = replay_mode_name(launch.replay_mode);
    std::string text = mode == "none" ? "not replayed, " : mode + " replay, ";
    text += counted(launch.passes, "pass", "passes");
    text +=
        launch.cache_control == capture::CacheControl::all ? ", caches flushed before each pass" : ", caches as they were left";
    text += "; measuring took " + duration(launch.cost_ns);
    if (launch.evaluated_here) text += "; evaluated here from kept counters";
    return text;
  }

  // How far the launches lie apart that were measured as this one was; empty where there is but one.
  static std::string spread(const model::AlikeLaunches& alike) {
    const auto durations = alike.values.find(model::kDurationMetric);
    if (durations == alike.values.end()) return "";
    const auto mean = durations->second.mean();
    const auto deviation = durations->second.deviation();
    if (!mean || !deviation || *mean <= 0) return "";
    const auto time = [](double ns) {
      const Quantity shown = humanize(ns, "ns");
      return shown.value + " " + shown.unit;
    };
    return fmt::format("one of {} measured alike: {} on average, {} to {}, standard deviation {:.1f} %",
                       with_separators(durations->second.n()), time(*mean), time(*durations->second.least()),
                       time(*durations->second.most()), 100 * *deviation / *mean);
  }

  void section(const cupti::Section& section, const model::Config& config, const model::Values& measured,
               const Figures& figures) {
    std::vector<SectionValue> values = section_values(section, measured, figures);
    if (values.empty()) return;
    title(section.title);
    const std::vector<StallRow> stalls = take_stalls(values);
    for (const SectionValue& value : values) {
      if (value.metric != "occupancy_limiter") row(value);
    }
    if (!stalls.empty()) stall_table(stalls);
    if (section.name == "occupancy") limiter(config, figures);
  }

  void metrics(const model::Values& measured) {
    cupti::Section asked{"metrics", "Metrics", "", {}};
    for (const std::string& metric : options_.metrics) asked.rows.push_back({metric, "", {metric}, "", {}});
    const std::vector<SectionValue> values = section_values(asked, measured, {});
    if (values.empty()) return;
    title(asked.title);
    // NVPerf's names are longer than labels, and are what was asked for: never cut, value on a line of its own.
    for (const SectionValue& value : values) {
      const std::string shown = shown_value(value, std::get<double>(value.value), humanize(std::get<double>(value.value), ""));
      const std::string name = printable(value.label, kTableWidth - kIndent);
      const std::size_t room = kTableWidth - kIndent - display_width(name);
      text_ += std::string(kIndent, ' ') + name;
      if (room < shown.size() + 2) text_ += "\n" + pad_left(shown, kTableWidth) + "\n";
      if (room >= shown.size() + 2) text_ += pad_left(shown, room) + "\n";
    }
  }

  void row(const SectionValue& value) {
    if (const auto* words = std::get_if<std::string>(&value.value)) return cells(value.label, "", printable(*words, kValueWidth));
    const double number = std::get<double>(value.value);
    const Quantity shown = humanize(number, value.unit);
    cells(value.label, shown.unit, shown_value(value, number, shown), value.unit == "%" ? bar(number / 100) : "");
  }

  // Marked where it cannot be: launch() says why below.
  std::string shown_value(const SectionValue& value, double number, const Quantity& shown) {
    if (!model::is_unreliable(value.metric, number)) return shown.value;
    unreliable_ = true;
    return shown.value + " " + kMark;
  }

  void stall_table(const std::vector<StallRow>& rows) {
    cells("Stall reason", "share", "cycles per issue");
    for (const StallRow& stall : rows) {
      cells(stall.label, fmt::format("{:5.1f} %", stall.share * 100), humanize(stall.cycles, "").value, bar(stall.share));
    }
  }

  void limiter(const model::Config& config, const Figures& figures) {
    const auto by = figures.find("occupancy_limiter");
    const auto warps = figures.find("theoretical_warps_per_sm");
    if (by == figures.end() || warps == figures.end()) return;
    const double block_warps = std::ceil(std::get<double>(figures.at("block_size")) / warp_size(config));
    const double blocks = std::get<double>(warps->second) / block_warps;
    std::string causes = std::get<std::string>(by->second);
    if (const std::size_t comma = causes.rfind(", "); comma != std::string::npos) causes.replace(comma, 2, " and ");
    line(fmt::format("Limited by {}: no more than {} of {} fit on a multiprocessor at once.", causes,
                     counted(static_cast<std::uint64_t>(blocks), "block", "blocks"),
                     counted(static_cast<std::uint64_t>(block_warps), "warp", "warps")),
         kIndent);
  }
  // Only called where an occupancy was computed, so that the device is known and its warps are not empty.
  double warp_size(const model::Config& config) const { return model::device_of(timeline_, config)->warp_size; }

  void title(const std::string& words) { text_ += "\n  " + bold(printable(words, kTableWidth - 2)) + "\n"; }

  void cells(const std::string& label, const std::string& unit, const std::string& value, const std::string& bar_text = "") {
    const std::size_t label_width = options_.terminal ? kBarLabelWidth : kLabelWidth;
    const std::size_t value_width = options_.terminal ? kBarValueWidth : kValueWidth;
    const std::string left = std::string(kIndent, ' ') + pad_right(printable(label, label_width), label_width) + "  ";
    // A value too wide for its column takes the blanks of the unit's.
    const std::size_t taken = std::max(display_width(unit) + 1 + display_width(value), kUnitWidth + 1 + value_width);
    text_ += left + unit + pad_left(value, taken - display_width(unit));
    if (!bar_text.empty()) text_ += " " + bar_text;
    text_ += "\n";
  }

  void line(const std::string& words, std::size_t indent = 2) {
    text_ += std::string(indent, ' ') + wrap(words, kTableWidth, indent + 2, indent) + "\n";
  }

  std::string bar(double share) const {
    if (!options_.terminal || !std::isfinite(share)) return "";
    const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth));
    return "|" + std::string(filled, '#') + std::string(kBarWidth - filled, ' ') + "|";
  }
  std::string bold(const std::string& words) const { return options_.terminal ? "\033[1m" + words + "\033[0m" : words; }

  const model::Timeline& timeline_;
  const KernelTablesOptions& options_;
  model::AlikeTable alike_;
  bool unreliable_ = false;  // a value was marked
  std::string text_;
};

// The first launch measured of each configuration; what took the GPU longest in all comes first, by its length and how often it
// was launched.
std::vector<model::Launch> longest_launches(const model::Timeline& timeline) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const model::LaunchCounts& one : timeline.counts) {
    if (one.config != model::kNone) counts[one.config] += one.launches;
  }
  std::vector<std::pair<double, model::Launch>> found;
  std::set<std::uint32_t> seen;
  for (const model::Launch& launch : model::launches_of(timeline)) {
    if (!seen.insert(launch.config).second) continue;
    const double length = advise::find(model::values_of(timeline, launch), advise::Quantity::duration).value_or(0);
    found.emplace_back(length * static_cast<double>(std::max<std::uint64_t>(1, counts[launch.config])), launch);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<model::Launch> launches;
  for (const auto& [ns, launch] : found) launches.push_back(launch);
  return launches;
}

bool is_accepted(const model::Timeline& timeline, const model::Launch& launch, const KernelTablesOptions& options) {
  if (!options.accepts) return true;
  const model::Config& config = timeline.configs[launch.config];
  return options.accepts(base_name(timeline, config)) || options.accepts(demangled_name(timeline, config));
}

}  // namespace

std::string kernel_tables(const model::Timeline& timeline, const KernelTablesOptions& options) {
  std::string text;
  Writer writer(timeline, options);
  std::size_t shown = 0;
  for (const model::Launch& launch : longest_launches(timeline)) {
    if (!is_accepted(timeline, launch, options)) continue;
    if (shown++ == options.most) break;
    if (!text.empty()) text += "\n";
    text += writer.launch(launch);
  }
  if (shown == 0 && options.accepts) return "nothing to show: no measured kernel has such a name\n";
  return text;
}

}  // namespace dlkprof::report
