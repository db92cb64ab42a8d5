#include "report/diagnosis/reports.h"

#include <array>
#include <memory>

#include "advise/occupancy_advice.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using advise::ConfigUse;

struct OccupancyRow {
  ConfigUse use;
  advise::OccupancyAdvice advice;
};

std::vector<OccupancyRow> occupancy_rows(const model::Profile& profile) {
  std::vector<OccupancyRow> rows;
  for (ConfigUse& use : advise::config_uses(profile)) {
    advise::OccupancyAdvice advice = advise::advise_occupancy(profile.timeline, use);
    rows.push_back({std::move(use), std::move(advice)});
  }
  return rows;
}

// What names a configuration. `use_of(row)` is its use.
template <typename Row, typename UseOf>
Fields<Row> config_fields(const model::Timeline& timeline, UseOf use_of) {
  const auto key = [&timeline, use_of](const Row& row) { return &timeline.configs[use_of(row).config].key; };
  const auto kernel = [&timeline, use_of](const Row& row) -> Cell { return timeline.kernels[use_of(row).kernel].name; };
  Fields<Row> fields{
      {"Config", "", [use_of](const Row& row) -> Cell { return std::uint64_t{use_of(row).config}; }},
      {"Device", "", [use_of](const Row& row) -> Cell { return std::uint64_t{use_of(row).device}; }},
      {"Kernel Name", "", kernel, [&timeline, use_of](const Row& row) { return whole_name(timeline, use_of(row).kernel); }}};
  append(fields, size_fields(), key);
  fields.push_back({"Dynamic Shared Memory (byte/block)", "byte/block",
                    [key](const Row& row) -> Cell { return std::uint64_t{key(row)->dynamic_shared_bytes}; }});
  return fields;
}

// A figure of the theoretical occupancy, empty where that is not known.
template <typename Figure>
Field<OccupancyRow> theoretical_field(const char* name, const char* unit, Figure figure) {
  return {name, unit, [figure](const OccupancyRow& row) -> Cell {
            return row.advice.theoretical ? Cell{figure(*row.advice.theoretical)} : Cell{};
          }};
}

Fields<OccupancyRow> use_fields() {
  using Row = OccupancyRow;
  return {
      {"Launches", "launch", [](const Row& row) -> Cell { return row.use.launches; }},
      {"Total GPU Time (ns)", "ns", [](const Row& row) -> Cell { return row.use.timed == 0 ? Cell{} : Cell{row.use.gpu_ns}; }},
      {"Samples Measured", "launch", [](const Row& row) -> Cell { return row.use.samples; }}};
}

Fields<OccupancyRow> limit_fields() {
  using model::Occupancy;
  const auto blocks = [](std::uint32_t Occupancy::*limit) {
    return [limit](const Occupancy& occupancy) { return std::uint64_t{occupancy.*limit}; };
  };
  return {theoretical_field("Theoretical Occupancy (%)", "%", [](const Occupancy& occupancy) { return occupancy.percent; }),
          {"Achieved Occupancy (%)", "%", [](const OccupancyRow& row) { return number_cell(row.advice.achieved); }},
          {"Why Below Theoretical", "", [](const OccupancyRow& row) { return text_cell(gap_text(row.advice, row.use)); }},
          theoretical_field("Limiter", "", [](const Occupancy& occupancy) { return occupancy.limiter; }),
          theoretical_field("Block Limit Registers", "block", blocks(&Occupancy::limit_registers)),
          theoretical_field("Block Limit Shared Mem", "block", blocks(&Occupancy::limit_shared)),
          theoretical_field("Block Limit Warps", "block", blocks(&Occupancy::limit_warps)),
          theoretical_field("Block Limit SM", "block", blocks(&Occupancy::limit_blocks)),
          theoretical_field("Registers (register/thread)", "register/thread", blocks(&Occupancy::registers_per_thread)),
          theoretical_field("Shared Memory (byte/block)", "byte/block",
                            [](const Occupancy& occupancy) { return occupancy.shared_per_block; })};
}

Fields<OccupancyRow> step_fields() {
  using Row = OccupancyRow;
  const auto better = [](const Row& row) { return row.advice.better_block_threads > 0; };
  return {
      {"Next Step", "", [](const Row& row) { return text_cell(step_text(row.advice)); }},
      {"Registers Fewer (register/thread)", "register/thread",
       [](const Row& row) { return row.advice.step ? Cell{std::uint64_t{row.advice.step->registers_fewer}} : Cell{}; }},
      {"Shared Memory Less (byte/block)", "byte/block",
       [](const Row& row) { return row.advice.step ? Cell{row.advice.step->shared_bytes_fewer} : Cell{}; }},
      {"Occupancy After Step (%)", "%", [](const Row& row) { return row.advice.step ? Cell{row.advice.step->percent} : Cell{}; }},
      {"Better Block Size (thread)", "thread",
       [better](const Row& row) { return better(row) ? Cell{std::uint64_t{row.advice.better_block_threads}} : Cell{}; }},
      {"Occupancy With It (%)", "%",
       [better](const Row& row) { return better(row) ? Cell{row.advice.better_block_percent} : Cell{}; }}};
}

Fields<OccupancyRow> grid_fields() {
  using Row = OccupancyRow;
  return {theoretical_field("Waves Per SM", "", [](const model::Occupancy& occupancy) { return occupancy.waves; }),
          {"Tail Effect (%)", "%", [](const Row& row) { return number_cell(row.advice.tail_percent); }},
          {"Idle SMs (%)", "%", [](const Row& row) { return number_cell(row.advice.idle_sms_percent); }}};
}

struct CurveRow {
  const ConfigUse* use = nullptr;
  advise::CurveOf what = {};
  advise::CurvePoint point;
};

// In the order of CurveOf.
constexpr std::array kCurveNames{"block size", "registers", "shared memory"};
constexpr std::array kCurveUnits{"thread", "register/thread", "byte/block"};

// All curves of all configurations. The rows point into `uses`.
struct Curves {
  std::vector<ConfigUse> uses;
  std::vector<CurveRow> rows;
};

std::shared_ptr<const Curves> all_curves(const model::Profile& profile) {
  using advise::CurveOf;
  auto curves = std::make_shared<Curves>();
  curves->uses = advise::config_uses(profile);
  for (const ConfigUse& use : curves->uses) {
    for (const CurveOf what : {CurveOf::block_size, CurveOf::registers, CurveOf::shared_memory}) {
      for (const advise::CurvePoint& point : advise::occupancy_curve(profile.timeline, use, what)) {
        curves->rows.push_back({&use, what, point});
      }
    }
  }
  return curves;
}

}  // namespace

Rows occupancy_report(const model::Profile& profile) {
  auto fields =
      config_fields<OccupancyRow>(profile.timeline, [](const OccupancyRow& row) -> const ConfigUse& { return row.use; });
  append(fields, use_fields());
  append(fields, limit_fields());
  append(fields, step_fields());
  append(fields, grid_fields());
  return make_rows("occupancy", std::move(fields), occupancy_rows(profile));
}

Rows occupancy_curves_report(const model::Profile& profile) {
  const auto curves = all_curves(profile);
  auto fields = config_fields<CurveRow>(profile.timeline, [](const CurveRow& row) -> const ConfigUse& { return *row.use; });
  append(fields,
         Fields<CurveRow>{{"Curve", "", [](const CurveRow& row) -> Cell { return model::name_in(kCurveNames, row.what); }},
                          {"Value", "", [](const CurveRow& row) -> Cell { return row.point.x; }},
                          {"Unit", "", [](const CurveRow& row) -> Cell { return model::name_in(kCurveUnits, row.what); }},
                          {"Theoretical Occupancy (%)", "%", [](const CurveRow& row) -> Cell { return row.point.percent; }},
                          {"Kernel Long Name", "", [&profile](const CurveRow& row) -> Cell {
                             return profile.timeline.kernels[row.use->kernel].long_name;
                           }}});
  return make_rows("occupancy_curves", std::move(fields), curves->rows.size(),
                   [curves](std::size_t i) -> const CurveRow& { return curves->rows[i]; });
}

}  // namespace dlkprof::report
