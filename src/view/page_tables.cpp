#include "view/page_tables.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "advise/sampled_loops.h"
#include "advise/stalls.h"
#include "base/text.h"
#include "model/aggregate/layer_paths.h"
#include "report/screen/screen.h"

namespace dlkprof::view {
namespace {

using store::Connection;
using store::Statement;

// View ops with the layer group and the module of each op that launched anything, and with a key that joins find.
void add_ops(Connection& connection, const model::Profile& profile) {
  connection.run(
      "CREATE TABLE page_op (op_id TEXT PRIMARY KEY, op_name TEXT, direction TEXT, op_type TEXT, phase TEXT, data_types TEXT, "
      "input_shapes TEXT, tc_eligible INTEGER, layer TEXT NOT NULL DEFAULT '', module TEXT NOT NULL DEFAULT '', op INTEGER) "
      "WITHOUT ROWID");
  connection.run(
      "INSERT OR IGNORE INTO page_op (op_id, op_name, direction, op_type, phase, data_types, input_shapes, tc_eligible) "
      "SELECT op_id, op_name, direction, op_type, phase, data_types, input_shapes, tc_eligible FROM ops");
  Statement number = connection.prepare("UPDATE page_op SET op = ? WHERE op_id = ?");
  for (std::size_t op = 0; op < profile.fold.ops.size(); ++op) number.run(op, profile.fold.ops[op].id);
  connection.run("CREATE INDEX page_op_number ON page_op (op)");
  Statement update = connection.prepare("UPDATE page_op SET layer = ?, module = ? WHERE op_id = ?");
  const std::vector<model::LayerPath> paths = model::find_layer_paths(profile.fold, profile.aggregate.ops);
  for (std::size_t row = 0; row < paths.size(); ++row) {
    if (paths[row].layer.empty()) continue;
    update.run(paths[row].layer, paths[row].module, profile.fold.ops[profile.aggregate.ops[row].op].id);
  }
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

// The SASS of sampled instructions, and the innermost loop that each lies in. Of two functions of one name the first.
void add_sass(Connection& connection, const model::Timeline& timeline, const model::Sass& sass) {
  connection.run(
      "CREATE TABLE page_sass (kernel_name TEXT, byte_offset INTEGER, sass TEXT, loop TEXT, loop_pct REAL, "
      "PRIMARY KEY (kernel_name, byte_offset)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_sass VALUES (?, ?, ?, ?, ?)");
  const model::PcSamples& samples = timeline.pc_samples;
  const advise::SampledLoops loops(samples, sass);
  for (std::uint32_t i = 0; i < samples.instructions.size(); ++i) {
    const model::PcInstruction& at = samples.instructions[i];
    const model::SassFunction* function = sass.of(at.function);
    const model::SassInstruction* known = function == nullptr ? nullptr : function->at(at.offset);
    if (known == nullptr) continue;
    const advise::SampledLoop* loop = loops.of(i);
    const auto text = loop == nullptr ? std::nullopt : std::optional(fmt::format("{:#x}-{:#x}", loop->head, loop->last));
    const auto percent = loop == nullptr ? std::nullopt : std::optional(loop->percent);
    insert.run(timeline.kernels[samples.functions[at.function].kernel].name, at.offset, known->text, text, percent);
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
  add_sections(connection, catalogue);
  add_stall_words(connection);
  add_sampled_reasons(connection, profile.timeline);
  add_sass(connection, profile.timeline, sass);
  add_verdict(connection, profile);
  add_busy_times(connection, profile.timeline);
  add_config_tables(connection, profile);
}

}  // namespace dlkprof::view
