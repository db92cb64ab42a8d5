#include "view/page_tables.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "advise/sampled_loops.h"
#include "advise/stalls.h"
#include "base/text.h"
#include "model/aggregate/layer_paths.h"
#include "report/format/telling_name.h"
#include "report/screen/screen.h"

namespace dlkprof::view {
namespace {

using store::Connection;
using store::Statement;

// View ops with the number, the layer group and the module of each op: numbers make joins quick.
void add_ops(Connection& connection, const model::Profile& profile) {
  connection.run("CREATE TEMP TABLE number_of_op (op_id TEXT PRIMARY KEY, op INTEGER) WITHOUT ROWID");
  Statement number = connection.prepare("INSERT OR IGNORE INTO number_of_op VALUES (?, ?)");
  for (std::size_t op = 0; op < profile.fold.ops.size(); ++op) number.run(profile.fold.ops[op].id, op);
  connection.run(
      "CREATE TABLE page_op (op INTEGER PRIMARY KEY, op_id TEXT UNIQUE, op_name TEXT, direction TEXT, op_type TEXT, phase TEXT, "
      "data_types TEXT, input_shapes TEXT, tc_eligible INTEGER, layer TEXT NOT NULL DEFAULT '', module TEXT NOT NULL DEFAULT "
      "'')");
  connection.run(
      "INSERT OR IGNORE INTO page_op (op, op_id, op_name, direction, op_type, phase, data_types, input_shapes, tc_eligible) "
      "SELECT n.op, o.op_id, o.op_name, o.direction, o.op_type, o.phase, o.data_types, o.input_shapes, o.tc_eligible FROM ops o "
      "JOIN number_of_op n ON n.op_id = o.op_id");
  connection.run("DROP TABLE number_of_op");
  Statement update = connection.prepare("UPDATE page_op SET layer = ?, module = ? WHERE op = ?");
  const std::vector<model::LayerPath> paths = model::find_layer_paths(profile.fold, profile.aggregate.ops);
  for (std::size_t row = 0; row < paths.size(); ++row) {
    if (!paths[row].layer.empty()) update.run(paths[row].layer, paths[row].module, profile.aggregate.ops[row].op);
  }
}

// View detail in groups: thousands of ops take longer to sum up than somebody waits for a panel.
void add_groups(Connection& connection) {
  struct Grouping {
    const char* by;
    const char* name;
    const char* direction;
  };
  constexpr std::array kGroupings{
      Grouping{"layer", "o.layer", "o.direction"}, Grouping{"module", "o.module", "NULL"}, Grouping{"type", "o.op_type", "NULL"},
      Grouping{"direction", "coalesce(nullif(o.direction, ''), 'none')", "NULL"}, Grouping{"phase", "o.phase", "NULL"},
      // Where an op lies in the picture of ops (viewer/src/panels/ops.ts).
      Grouping{"place", "o.layer || '/' || o.op_type", "o.direction"}};
  connection.run(
      "CREATE TABLE page_group (grouping TEXT, name TEXT, direction TEXT, ops INTEGER, calls INTEGER, gpu_total_ns INTEGER, "
      "gpu_pct REAL, tc_gpu_ns INTEGER, cpu_total_ns INTEGER, covered_ns INTEGER, op_id TEXT)");
  for (const Grouping& one : kGroupings) {
    connection.run(fmt::format(
        "INSERT INTO page_group SELECT '{}', coalesce({}, '') AS name, {} AS pass, count(*), sum(d.calls), sum(d.gpu_total_ns), "
        "100.0 * sum(d.gpu_total_ns) / sum(sum(d.gpu_total_ns)) OVER (), sum(d.tc_gpu_ns), sum(d.cpu_total_ns), "
        "sum(d.covered_ns), CASE WHEN count(*) = 1 THEN min(d.op_id) END FROM detail d JOIN page_op o ON o.op_id = d.op_id "
        "GROUP BY name, pass HAVING sum(d.gpu_total_ns) > 0 ORDER BY sum(d.gpu_total_ns) DESC",
        one.by, one.name, one.direction));
  }
}

// Kernels by the names that reports for people have.
void add_kernels(Connection& connection, const model::Timeline& timeline) {
  std::vector<const std::string*> wholes;
  for (const model::Kernel& kernel : timeline.kernels)
    wholes.push_back(kernel.long_name.empty() ? &kernel.name : &kernel.long_name);
  const std::vector<std::string> names = report::telling_names(wholes);
  connection.run("CREATE TABLE page_kernel (kernel INTEGER PRIMARY KEY, telling_name TEXT)");
  Statement insert = connection.prepare("INSERT INTO page_kernel VALUES (?, ?)");
  for (std::size_t kernel = 0; kernel < names.size(); ++kernel) insert.run(kernel, names[kernel]);
}

// Which metrics a section shows, under which label and unit; `place` counts the alternatives of a row, best first.
void add_sections(Connection& connection, const cupti::Catalogue& catalogue) {
  connection.run(
      "CREATE TABLE page_section (section TEXT, title TEXT, about TEXT, position INTEGER, label TEXT, unit TEXT, metric TEXT, "
      "computed TEXT)");
  Statement insert = connection.prepare("INSERT INTO page_section VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t position = 0;
  for (const cupti::Section& section : catalogue.sections()) {
    for (const cupti::SectionRow& row : section.rows) {
      const auto add = [&](const std::string& metric) {
        insert.run(section.name, section.title, section.about, position, row.label, row.unit, metric, row.computed);
      };
      ++position;
      if (row.metrics.empty()) add("");
      for (const std::string& metric : row.metrics) add(metric);
    }
  }
}

void add_stall_words(Connection& connection) {
  connection.run("CREATE TABLE page_stall (reason TEXT PRIMARY KEY, meaning TEXT, remedy TEXT)");
  Statement insert = connection.prepare("INSERT INTO page_stall VALUES (?, ?, ?)");
  for (const advise::StallReason& reason : advise::stall_reasons()) insert.run(reason.name, reason.meaning, reason.remedy);
}

// The reasons of PC sampling in the words of counters, with what they mean.
void add_sampled_reasons(Connection& connection, const model::Timeline& timeline) {
  connection.run("CREATE TABLE page_pc_reason (reason TEXT PRIMARY KEY, name TEXT, meaning TEXT, remedy TEXT)");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_pc_reason VALUES (?, ?, ?, ?)");
  for (const std::string& reason : timeline.pc_samples.reasons) {
    const std::string name = advise::stall_name(reason);
    const advise::StallReason* known = advise::find_stall_reason(name);
    insert.run(reason, name, known == nullptr ? "" : known->meaning, known == nullptr ? "" : known->remedy);
  }
}

// The SASS of instructions that were sampled or counted, and the innermost loop that each lies in.
void add_sass(Connection& connection, const model::PcSamples& samples, const model::Sass& sass) {
  connection.run(
      "CREATE TABLE page_sass (function INTEGER, byte_offset INTEGER, sass TEXT, loop TEXT, loop_pct REAL, "
      "PRIMARY KEY (function, byte_offset)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_sass VALUES (?, ?, ?, ?, ?)");
  const advise::SampledLoops loops(samples, sass);
  for (std::uint32_t i = 0; i < samples.instructions.size(); ++i) {
    const model::PcInstruction& at = samples.instructions[i];
    const model::SassFunction* function = sass.of(at.function);
    const model::SassInstruction* known = function == nullptr ? nullptr : function->at(at.offset);
    if (known == nullptr) continue;
    const advise::SampledLoop* loop = loops.of(i);
    const auto text = loop == nullptr ? std::nullopt : std::optional(fmt::format("{:#x}-{:#x}", loop->head, loop->last));
    const auto percent = loop == nullptr ? std::nullopt : loop->percent;
    insert.run(at.function, at.offset, known->text, text, percent);
  }
}

void add_verdict(Connection& connection, const model::Profile& profile) {
  connection.run("CREATE TABLE page_verdict (sentence TEXT)");
  connection.prepare("INSERT INTO page_verdict VALUES (?)").run(report::verdict_of(profile));
}

}  // namespace

void add_page_tables(Connection& connection, const model::Profile& profile, const cupti::Catalogue& catalogue,
                     const model::Sass& sass) {
  add_step_tables(connection, profile);
  add_ops(connection, profile);
  add_groups(connection);
  add_kernels(connection, profile.timeline);
  add_sections(connection, catalogue);
  add_stall_words(connection);
  add_sampled_reasons(connection, profile.timeline);
  add_sass(connection, profile.timeline.pc_samples, sass);
  add_verdict(connection, profile);
  add_busy_times(connection, profile.timeline);
  add_config_tables(connection, profile);
}

}  // namespace dlkprof::view
