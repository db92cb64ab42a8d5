#include "view/run_copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "store/copy.h"
#include "view/page_tables.h"

namespace dlkprof::view {
namespace {

using store::Access;
using store::Connection;

std::filesystem::path temporary_name() { return std::filesystem::temp_directory_path() / "dlkprof_view"; }

// Views that count activities of all iterations become tables before activities are left out.
void keep_figures(Connection& connection) {
  for (const char* view : {"iterations", "gaps"}) {
    connection.run(fmt::format("CREATE TABLE page_kept AS SELECT * FROM {}", view));
    connection.run(fmt::format("DROP VIEW {}", view));
    connection.run(fmt::format("ALTER TABLE page_kept RENAME TO {}", view));
  }
}

// The first, the one in the middle by length, and the longest, of those aggregated.
std::vector<std::int64_t> choose_iterations(const Connection& connection) {
  constexpr std::array kChoices = {
      "SELECT iteration FROM iterations WHERE aggregated ORDER BY iteration LIMIT 1",
      "SELECT iteration FROM iterations WHERE aggregated ORDER BY duration_ns, iteration LIMIT 1 OFFSET "
      "(SELECT (count(*) - 1) / 2 FROM iterations WHERE aggregated)",
      "SELECT iteration FROM iterations WHERE aggregated ORDER BY duration_ns DESC, iteration LIMIT 1"};
  std::vector<std::int64_t> chosen;
  for (const char* choice : kChoices) {
    const std::int64_t iteration = connection.number(choice);
    if (std::find(chosen.begin(), chosen.end(), iteration) == chosen.end()) chosen.push_back(iteration);
  }
  return chosen;
}

}  // namespace

RunCopy::RunCopy(const Run& run, const cupti::Catalogue& catalogue)
    : file_(std::make_unique<NewFile>(temporary_name())), label_(run.label) {
  Connection connection(file_->path(), Access::build);
  store::copy_newest(run.database, connection);
  store::Transaction transaction(connection);
  add_page_tables(connection, *run.profile, catalogue, run.sass);
  transaction.commit();
}

RunCopy::RunCopy(std::string label, const std::function<void(Connection&)>& fill)
    : file_(std::make_unique<NewFile>(temporary_name())), label_(std::move(label)), is_job_(true) {
  Connection connection(file_->path(), Access::build);
  fill(connection);
}

void RunCopy::describe(std::vector<store::View> views, std::vector<std::string> notices) {
  views_ = std::move(views);
  notices_ = std::move(notices);
}

void RunCopy::add_changes(std::size_t other, const report::CompareView& comparison) {
  Connection connection(file_->path(), Access::build);
  connection.run("CREATE TABLE IF NOT EXISTS page_change (run INTEGER, position INTEGER, heading TEXT, sentence TEXT)");
  store::Statement insert = connection.prepare("INSERT INTO page_change VALUES (?, ?, ?, ?)");
  std::int64_t position = 0;
  for (const report::CompareSection& section : comparison.sections) {
    for (const std::string& sentence : section.sentences) insert.run(other, position++, section.heading, sentence);
  }
}

void RunCopy::keep_three_iterations() {
  Connection connection(file_->path(), Access::build);
  keep_figures(connection);
  kept_ = choose_iterations(connection);
  const std::string kept = fmt::format("{}", fmt::join(kept_, ","));
  // A table of its own: every range and call is compared with these, and not with all iterations.
  connection.run(
      fmt::format("CREATE TEMP TABLE kept_times AS SELECT start_ns, stop_ns FROM iterations WHERE iteration IN ({})", kept));
  const auto leave_out = [&connection](const char* table, const char* unless) {
    connection.run(
        fmt::format("DELETE FROM {0} WHERE NOT EXISTS (SELECT 1 FROM kept_times i "
                    "WHERE {0}.end_ns >= i.start_ns AND {0}.start_ns <= i.stop_ns){1}",
                    table, unless));
  };
  connection.run(fmt::format("DELETE FROM placement WHERE iteration NOT IN ({})", kept));
  connection.run("DELETE FROM activity WHERE id NOT IN (SELECT activity FROM placement)");
  leave_out("range", "");
  leave_out("call", " AND id NOT IN (SELECT call FROM activity WHERE call IS NOT NULL)");
  connection.run(fmt::format("DELETE FROM gaps WHERE iteration NOT IN ({})", kept));
  connection.run(
      "DELETE FROM string WHERE id > 0 AND id NOT IN (SELECT message FROM range UNION SELECT domain FROM range "
      "UNION SELECT name FROM call)");
  connection.run("VACUUM");
}

void RunCopy::leave_out_single_iterations() { leave_out_level(0); }

void RunCopy::leave_out_blocks_of_eight() { leave_out_level(1); }

void RunCopy::leave_out_level(int level) {
  Connection connection(file_->path(), Access::build);
  // Key nodes whose iterations all lie in one block of that level keep it.
  const auto few = fmt::format("(SELECT key FROM page_block GROUP BY key HAVING max(level) <= {})", level);
  const std::string left_out = fmt::format("level = {} AND key NOT IN {}", level, few);
  for (const char* table : {"page_step", "page_op_step"})
    connection.run(fmt::format("DELETE FROM {} WHERE block IN (SELECT id FROM page_block WHERE {})", table, left_out));
  connection.run(fmt::format("UPDATE page_key SET grain = {} WHERE key NOT IN {}", 1 << (kBlockBits * (level + 1)), few));
  connection.run(fmt::format("DELETE FROM page_block WHERE {}", left_out));
  connection.run("VACUUM");
}

void RunCopy::leave_out_launches() {
  has_launches_ = false;
  Connection connection(file_->path(), Access::build);
  connection.run("DELETE FROM measured");
  connection.run("DELETE FROM measured_launch");
  connection.run("VACUUM");
}

void RunCopy::leave_out_counters_of_small_ops() {
  ops_with_counters_ = kOpsWithCounters;
  Connection connection(file_->path(), Access::build);
  for (const char* table : {"counter", "stall"})  // kind 2: op types, which are few
    connection.run(fmt::format("DELETE FROM {} WHERE kind < 2 AND rank >= {}", table, kOpsWithCounters));
  connection.run("VACUUM");
}

}  // namespace dlkprof::view
