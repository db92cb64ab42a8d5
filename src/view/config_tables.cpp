// What the page shows of launch configurations beyond views: computed figures, rooflines and occupancy curves.

#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "advise/config_use.h"
#include "advise/occupancy_advice.h"
#include "advise/roofline.h"
#include "model/aggregate/computed.h"
#include "view/page_tables.h"

namespace dlkprof::view {
namespace {

using store::Connection;
using store::Statement;

std::optional<double> rate_of(const std::optional<advise::Peak>& peak) { return peak ? std::optional(peak->rate) : std::nullopt; }

std::optional<double> intensity(double operations, const std::optional<double>& bytes) {
  return bytes && *bytes > 0 ? std::optional(operations / *bytes) : std::nullopt;
}

void add_rooflines(Connection& connection, const std::vector<advise::ConfigUse>& uses) {
  connection.run(
      "CREATE TABLE page_roofline (config INTEGER, position INTEGER, precision TEXT, operations REAL, rate REAL, duration_ns "
      "REAL, "
      "dram_intensity REAL, l2_intensity REAL, l1_intensity REAL, compute_peak REAL, dram_peak REAL, l2_peak REAL, l1_peak REAL, "
      "attainable REAL, compute_source TEXT, dram_source TEXT, PRIMARY KEY (config, position)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT INTO page_roofline VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const advise::ConfigUse& use : uses) {
    const std::optional<advise::Roofline> roofline = advise::roofline_of(use.values);
    if (!roofline) continue;
    std::int64_t position = 0;
    for (const advise::RooflinePoint& point : roofline->points) {
      insert.run(use.config, position++, point.precision, point.operations, point.rate, roofline->duration_ns, point.intensity,
                 intensity(point.operations, roofline->l2_bytes), intensity(point.operations, roofline->l1_bytes),
                 rate_of(point.compute), rate_of(roofline->dram), rate_of(roofline->l2), rate_of(roofline->l1),
                 advise::attainable(*roofline, point), point.compute ? point.compute->source : "",
                 roofline->dram ? roofline->dram->source : "");
    }
  }
}

void add_curves(Connection& connection, const model::Timeline& timeline, const std::vector<advise::ConfigUse>& uses) {
  using advise::CurveOf;
  constexpr std::array kCurves{std::pair{CurveOf::block_size, "threads per block"},
                               std::pair{CurveOf::registers, "registers per thread"},
                               std::pair{CurveOf::shared_memory, "shared bytes per block"}};
  connection.run(
      "CREATE TABLE page_curve (config INTEGER, what TEXT, x INTEGER, pct REAL, PRIMARY KEY (config, what, x)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_curve VALUES (?, ?, ?, ?)");
  for (const advise::ConfigUse& use : uses) {
    for (const auto& [what, name] : kCurves) {
      for (const advise::CurvePoint& point : advise::occupancy_curve(timeline, use, what))
        insert.run(use.config, name, point.x, point.percent);
    }
  }
}

void add_computed(Connection& connection, const model::Timeline& timeline, const std::vector<advise::ConfigUse>& uses) {
  connection.run(
      "CREATE TABLE page_computed (config INTEGER, name TEXT, value REAL, words TEXT, PRIMARY KEY (config, name)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_computed VALUES (?, ?, ?, ?)");
  for (const advise::ConfigUse& use : uses) {
    for (const auto& [name, value] : model::compute_figures(timeline, timeline.configs[use.config])) {
      const auto* number = std::get_if<double>(&value);
      const auto* words = std::get_if<std::string>(&value);
      insert.run(use.config, name, number != nullptr ? std::optional(*number) : std::nullopt, words != nullptr ? *words : "");
    }
  }
}

}  // namespace

void add_config_tables(Connection& connection, const model::Profile& profile) {
  const std::vector<advise::ConfigUse> uses = advise::config_uses(profile);
  add_rooflines(connection, uses);
  add_curves(connection, profile.timeline, uses);
  add_computed(connection, profile.timeline, uses);
}

}  // namespace dlkprof::view
