#include "report/launches/section_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace dlkprof::report {
namespace {

constexpr double kLeastShare = 0.005;  // smaller stall reasons explain nothing and only lengthen the table

std::optional<std::pair<std::string, model::FigureValue>> find_value(const cupti::SectionRow& row, const model::Values& measured,
                                                                     const std::map<std::string, model::FigureValue>& figures) {
  for (const std::string& metric : row.metrics) {
    if (const auto found = measured.find(metric); found != measured.end()) return {{metric, found->second}};
  }
  if (const auto found = figures.find(row.computed); found != figures.end()) return {{row.computed, found->second}};
  return std::nullopt;
}

bool is_stall(const SectionValue& value) {
  return value.metric.find("_issue_stalled_") != std::string::npos && std::holds_alternative<double>(value.value);
}

StallRow fold(const std::vector<StallRow>& rows) {
  StallRow folded{fmt::format("{} others", rows.size()), 0, 0};
  for (const StallRow& row : rows) {
    folded.cycles += row.cycles;
    folded.share += row.share;
  }
  return folded;
}

}  // namespace

std::vector<SectionValue> section_values(const cupti::Section& section, const model::Values& measured,
                                         const std::map<std::string, model::FigureValue>& figures) {
  std::vector<SectionValue> values;
  for (const cupti::SectionRow& row : section.rows) {
    if (auto found = find_value(row, measured, figures)) {
      values.push_back({row.label, row.unit, std::move(found->first), std::move(found->second)});
    }
  }
  return values;
}

std::vector<std::string> unmeasured_sections(const model::Timeline& timeline, const std::vector<cupti::Section>& sections) {
  const auto is_measured = [&timeline](const std::string& metric) {
    return std::any_of(timeline.measured.begin(), timeline.measured.end(),
                       [&metric](const auto& of_config) { return of_config.second.contains(metric); });
  };
  std::vector<std::string> names;
  for (const cupti::Section& section : sections) {
    const auto has = [&](const cupti::SectionRow& row) {
      return row.metrics.empty() || std::any_of(row.metrics.begin(), row.metrics.end(), is_measured);
    };
    if (std::none_of(section.rows.begin(), section.rows.end(), has)) names.push_back(section.name);
  }
  return names;
}

Cell to_cell(const model::FigureValue& value) {
  return std::visit([](const auto& held) -> Cell { return held; }, value);
}

std::vector<StallRow> take_stalls(std::vector<SectionValue>& values) {
  std::vector<StallRow> rows;
  std::string issued;  // the label of what waits for nothing, which comes last
  for (const SectionValue& value : values) {
    if (!is_stall(value)) continue;
    rows.push_back({value.label, std::get<double>(value.value), 0});
    if (value.metric.find("_stalled_selected_") != std::string::npos) issued = value.label;
  }
  values.erase(std::remove_if(values.begin(), values.end(), is_stall), values.end());

  const double sum =
      std::accumulate(rows.begin(), rows.end(), 0.0, [](double all, const StallRow& row) { return all + row.cycles; });
  if (sum <= 0) return rows;
  for (StallRow& row : rows) row.share = row.cycles / sum;
  const auto order = [&issued](const StallRow& row) { return std::pair(row.label == issued, -row.cycles); };
  std::stable_sort(rows.begin(), rows.end(), [&](const StallRow& a, const StallRow& b) { return order(a) < order(b); });
  const auto waits = std::find_if(rows.begin(), rows.end(), [&](const StallRow& row) { return row.label == issued; });
  const auto small = std::find_if(rows.begin(), waits, [](const StallRow& row) { return row.share < kLeastShare; });
  if (waits - small < 2) return rows;
  const StallRow others = fold({small, waits});
  rows.insert(rows.erase(small, waits), others);
  return rows;
}

}  // namespace dlkprof::report
