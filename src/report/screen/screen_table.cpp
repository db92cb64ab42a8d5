// Where the GPU time goes: the table of the screen.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "report/format/people.h"
#include "report/ops/fields.h"
#include "report/screen/screen_parts.h"

namespace dlkprof::report {
namespace {

using advise::OverviewRow;
using advise::Verdict;

constexpr std::size_t kScreenRows = 10;
constexpr double kAllMeasured = 98.5;  // per cent: what is missing says nothing

std::string bound_by(const OverviewRow& row) {
  const advise::Judgement& judgement = row.judgement;
  const auto of_peak = [](const char* what, const std::optional<double>& percent) {
    return percent ? fmt::format("{} {:.0f} %", what, *percent) : std::string(what);
  };
  switch (judgement.verdict) {
    case Verdict::unknown:
      break;
    case Verdict::launch_bound:
      return "launches";
    case Verdict::too_small:
      return "small grid";
    case Verdict::compute_bound:
      return of_peak("compute", judgement.sm_percent);
    case Verdict::memory_bound:
      return of_peak("memory", judgement.memory_percent);
    case Verdict::latency_bound:
      return of_peak("latency", std::max(judgement.sm_percent, judgement.memory_percent));
  }
  return row.stall.empty() ? "" : "(" + row.stall + ")";
}

std::string tensor_text(const OverviewRow& row) {
  const char* words = row.uses_tc ? "yes" : "no";
  if (row.tc_source == model::TensorCoreSource::unknown) return "";
  return row.tc_source == model::TensorCoreSource::name ? fmt::format("({})", words) : words;
}

// "/Llama" where that is the first part of most rows' paths; empty where there is none.
std::string common_root(const std::vector<const OverviewRow*>& rows) {
  std::map<std::string, std::size_t> roots;
  for (const OverviewRow* row : rows) {
    const std::size_t end = row->name.find('/', 1);
    if (row->name.starts_with('/') && end != std::string::npos) ++roots[row->name.substr(0, end)];
  }
  const auto most =
      std::max_element(roots.begin(), roots.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == roots.end() || 2 * most->second < rows.size() ? "" : most->first;
}

std::string row_name(const OverviewRow& row, const std::string& root, bool by_layer) {
  std::string name = row.name;
  if (!root.empty() && name.starts_with(root + "/")) name.erase(0, root.size() + 1);
  if (by_layer && name == row.name && model::is_unassociated(row.name)) name = row.type + " (no op)";
  const std::string pass = model::name_in(model::kDirections, row.direction);
  return pass.empty() ? name : name + " " + pass;
}

Table table_of(const std::vector<const OverviewRow*>& rows, const ScreenInputs& inputs, const std::string& root) {
  const double iterations = inputs.profile.aggregate.summary.shown_iterations();
  Table table{
      "screen",
      {{"Op Name", ""}, {"GPU Time", "ns"}, {"Share", "%"}, {"Measured", "%"}, {"Bound", ""}, {"Tensor", ""}, {"Occupancy", "%"}},
      {}};
  // A column of its own says of which part of a row the figures of counters are, unless that is all of each.
  const bool all = std::all_of(rows.begin(), rows.end(), [](const OverviewRow* row) {
    return row->measured_percent >= kAllMeasured || row->measured_percent <= 0;
  });
  for (const OverviewRow* row : rows) {
    const Cell part = row->measured_percent <= 0 || all ? Cell{} : Cell{fmt::format("{:.0f} %", row->measured_percent)};
    table.rows.push_back({row_name(*row, root, inputs.overview.has_ops), static_cast<double>(row->gpu_ns) / iterations,
                          row->percent, part, bound_by(*row), tensor_text(*row),
                          row->occupancy ? Cell{*row->occupancy} : Cell{}});
  }
  return table;
}

}  // namespace

ScreenLines share_lines(const ScreenInputs& inputs) {
  const std::vector<OverviewRow>& all = inputs.overview.rows;
  std::vector<const OverviewRow*> rows;
  double percent = 0;
  for (const OverviewRow& row : all) {
    if (rows.size() == kScreenRows || row.percent < 0.05) break;
    rows.push_back(&row);
    percent += row.percent;
  }
  if (rows.empty()) return {};
  const std::string root = common_root(rows);
  const std::string heading = !inputs.overview.has_ops ? "kernel"
                              : root.empty()           ? "layer"
                                                       : "layer of " + printable(root.substr(1), 30);
  const std::array columns{PeopleColumn{"Op Name", heading.c_str()}, PeopleColumn{"GPU Time", "GPU\ntime"},
                           PeopleColumn{"Share", "share"},           PeopleColumn{"Bound", "bound by\n(of peak)"},
                           PeopleColumn{"Tensor", "tensor\ncores"},  PeopleColumn{"Occupancy", "occu-\npancy"},
                           PeopleColumn{"Measured", "mea-\nsured"}};
  const Table table = table_of(rows, inputs, root);
  Rows shown = rows_of(table);
  if (!inputs.overview.has_ops)
    shown.kernels = {0, [&rows](std::size_t row) {
                       const std::string& name = rows[row]->whole_name;
                       return name.empty() ? nullptr : &name;
                     }};
  ScreenLines lines = split(people_rows(shown, columns, inputs.page), '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::string note = fmt::format("{} of {} rows: {:.0f} % of the GPU time{}.", rows.size(), all.size(), percent,
                                 inputs.overview.per_iteration ? " per iteration" : "");
  const bool by_name = std::any_of(rows.begin(), rows.end(),
                                   [](const OverviewRow* row) { return row->tc_source == model::TensorCoreSource::name; });
  const bool by_samples = std::any_of(rows.begin(), rows.end(), [](const OverviewRow* row) {
    return row->judgement.verdict == Verdict::unknown && !row->stall.empty();
  });
  if (by_samples) {
    note += by_name ? " ( ): by name or PC samples." : " ( ): by PC samples.";
  } else if (by_name) {
    note += " ( ): by name, not counted.";
  }
  lines.push_back(shorten_middle(note, inputs.page.width));
  return lines;
}

}  // namespace dlkprof::report
