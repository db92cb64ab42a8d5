#include "job/page_views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "job/reports.h"

namespace dlkprof::job {
namespace {

using report::Cell;
using report::Table;
using store::Connection;
using store::Statement;
using store::View;

View iterations_view() {
  return {"rank_iterations",
          "A row per rank and iteration.",
          {{"rank", "", "", "Number of the rank."},
           {"iteration", "", "", "Number of the iteration in the rank's capture."},
           {"own_time_ns", "", "ns", "Length of the iteration without the time that the rank waited for others in collectives."},
           {"length_ns", "", "ns", "Length of the iteration."},
           {"waited_ns", "", "ns", "What collectives took longer on this rank than on the one that came last."},
           {"gpu_ns", "", "ns", "The GPU did anything."},
           {"collective_ns", "", "ns", "A collective ran."},
           {"exposed_ns", "", "ns", "Nothing but collectives ran."},
           {"input_ns", "", "ns", "The GPU did nothing before the first work of the iteration."},
           {"idle_ns", "", "ns", "The GPU did nothing later in the iteration."}},
          ""};
}

View ops_view() {
  return {
      "rank_ops",
      "A row per rank and op: means over iterations.",
      {{"rank", "", "", "Number of the rank."},
       {"op_name", "", "", "Name of the op."},
       {"direction", "", "", "fprop or bprop; empty where not known."},
       {"op_type", "", "", "Type of the op."},
       {"excess_ns", "", "ns", "What GPU time and idle time before the op take longer than the median of the ranks of the role."},
       {"gpu_ns", "", "ns", "GPU time per iteration, collectives not counted."},
       {"wait_ns", "", "ns", "Time per iteration in which the GPU did nothing before the op's work."},
       {"usual_ns", "", "ns", "Median of gpu_ns + wait_ns over the ranks of the role."}},
      ""};
}

std::int64_t whole(double ns) { return std::llround(ns); }

// Of a report: its columns with their units; a bool is 0 or 1.
View view_of(const JobReport& report, const Table& table) {
  View view{report.name, fmt::format("One row per {}.", report.a_row_per), {}, ""};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto is_yes_or_no = [i](const auto& row) { return std::holds_alternative<bool>(row[i]); };
    const std::string unit = std::any_of(table.rows.begin(), table.rows.end(), is_yes_or_no) ? "0 or 1" : table.columns[i].unit;
    view.columns.push_back({column_of_view(table.columns[i].name), "", unit, ""});
  }
  return view;
}

void create(Connection& connection, const View& view) {
  std::vector<std::string> columns;
  for (const store::ViewColumn& column : view.columns) columns.push_back('"' + column.name + '"');
  connection.run(fmt::format("CREATE TABLE {} ({})", view.name, fmt::join(columns, ", ")));
}

Statement insert_into(const Connection& connection, const View& view) {
  const std::vector<std::string> marks(view.columns.size(), "?");
  return connection.prepare(fmt::format("INSERT INTO {} VALUES ({})", view.name, fmt::join(marks, ", ")));
}

void bind(Statement& statement, int parameter, const Cell& cell) {
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          statement.bind_parameter(parameter, std::optional<std::int64_t>());
        else
          statement.bind_parameter(parameter, value);
      },
      cell);
}

class PageWriter {
 public:
  PageWriter(Connection& connection, const std::filesystem::path& path, const JobAnalysis& job, const PageBounds& bounds)
      : connection_(connection),
        database_(path),
        job_(job),
        bounds_(bounds),
        room_(bounds.cells / std::max<std::size_t>(1, job.ranks.size())) {}

  PageViews write() {
    store::Transaction transaction(connection_);
    for (const JobReport& report : job_reports()) add_report(report);
    connection_.run("CREATE INDEX critical_ranks_rank ON critical_ranks (iteration, critical_rank)");
    add_iterations();
    add_ops();
    transaction.commit();
    return std::move(result_);
  }

 private:
  struct OpCell {
    const RankRow* rank = nullptr;
    double gpu_ns = 0, wait_ns = 0;
    [[nodiscard]] double taken_ns() const { return gpu_ns + wait_ns; }
  };

  void add_report(const JobReport& report);
  void add_iterations();
  [[nodiscard]] std::set<std::uint32_t> chosen_iterations() const;
  void add_ops();
  [[nodiscard]] std::set<std::uint32_t> chosen_ops();
  static void add_op(Statement& insert, const OpName& name, const std::vector<OpCell>& cells);

  Connection& connection_;
  JobDatabase database_;
  const JobAnalysis& job_;
  const PageBounds& bounds_;
  std::size_t room_;  // for cells of a rank
  PageViews result_;
};

void PageWriter::add_report(const JobReport& report) {
  const Table table = report.table(job_);
  result_.views.push_back(view_of(report, table));
  create(connection_, result_.views.back());
  Statement insert = insert_into(connection_, result_.views.back());
  const bool is_whole = report.is_whole_in_page || table.rows.size() <= bounds_.rows;
  if (!is_whole)
    result_.notices.push_back(fmt::format("View {} has the first {} of {} rows.", report.name, bounds_.rows, table.rows.size()));
  for (std::size_t row = 0; row < (is_whole ? table.rows.size() : bounds_.rows); ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) bind(insert, static_cast<int>(i) + 1, table.rows[row][i]);
    (void)insert.step();
    insert.reset();
  }
}

// All, or those in which ranks waited longest.
std::set<std::uint32_t> PageWriter::chosen_iterations() const {
  std::map<std::uint32_t, double> waited;
  for (const RankRow& rank : job_.ranks) {
    for (std::size_t i = 0; i < rank.waited_in_ns.size(); ++i)
      waited[rank.first_iteration + static_cast<std::uint32_t>(i)] += rank.waited_in_ns[i];
  }
  std::vector<std::pair<double, std::uint32_t>> order;
  for (const auto& [iteration, ns] : waited) order.emplace_back(-ns, iteration);
  std::sort(order.begin(), order.end());
  std::set<std::uint32_t> chosen;
  for (std::size_t i = 0; i < std::min(order.size(), std::max(room_, bounds_.fewest)); ++i) chosen.insert(order[i].second);
  return chosen;
}

void PageWriter::add_iterations() {
  result_.views.push_back(iterations_view());
  create(connection_, result_.views.back());
  Statement insert = insert_into(connection_, result_.views.back());
  const std::set<std::uint32_t> chosen = chosen_iterations();
  std::set<std::uint32_t> all;
  for (const RankRow& rank : job_.ranks) {
    for (const RankIteration& one : database_.read_iterations(rank.number)) {
      all.insert(one.iteration);
      if (!chosen.contains(one.iteration)) continue;
      const std::uint32_t place = one.iteration - rank.first_iteration;
      const double waited = place < rank.waited_in_ns.size() ? static_cast<double>(rank.waited_in_ns[place]) : 0;
      insert.run(rank.number, one.iteration, whole(static_cast<double>(one.length_ns) - waited), one.length_ns, whole(waited),
                 one.gpu_ns, one.collective_ns, one.exposed_ns, one.input_ns, one.idle_ns);
    }
  }
  connection_.run("CREATE INDEX rank_iterations_rank ON rank_iterations (rank)");
  if (all.size() > chosen.size()) {
    result_.notices.push_back(fmt::format(
        "View rank_iterations has the {} iterations of {} in which ranks waited longest for others.", chosen.size(), all.size()));
  }
}

// What findings and late collectives name, then what differs most.
std::set<std::uint32_t> PageWriter::chosen_ops() {
  const std::size_t most = std::clamp(room_, bounds_.fewest, bounds_.most_ops);
  std::set<std::uint32_t> chosen;
  const auto take = [&](std::uint32_t op) {
    if (op != kNone && chosen.size() < most) chosen.insert(op);
  };
  for (const JobFinding& finding : job_.findings) {
    for (std::uint32_t op = 0; op < job_.ops.size() && !finding.op.empty(); ++op) {
      if (job_.ops[op].name == finding.op) take(op);
    }
  }
  for (std::size_t i = 0; i < std::min(job_.collectives.size(), most); ++i) take(job_.collectives[i].op);
  for (const OpSpread& spread : job_.spreads) take(spread.op);
  return chosen;
}

void PageWriter::add_op(Statement& insert, const OpName& name, const std::vector<OpCell>& cells) {
  std::map<std::uint32_t, std::vector<double>> by_role;
  for (const OpCell& cell : cells) by_role[cell.rank->role].push_back(cell.taken_ns());
  std::map<std::uint32_t, double> usual;
  for (auto& [role, values] : by_role) usual[role] = robust(std::move(values)).median;
  for (const OpCell& cell : cells) {
    const double middle = usual[cell.rank->role];
    insert.run(cell.rank->number, name.name, name.direction, name.type, whole(cell.taken_ns() - middle), whole(cell.gpu_ns),
               whole(cell.wait_ns), whole(middle));
  }
}

void PageWriter::add_ops() {
  result_.views.push_back(ops_view());
  create(connection_, result_.views.back());
  Statement insert = insert_into(connection_, result_.views.back());
  const std::set<std::uint32_t> chosen = chosen_ops();
  std::map<std::uint32_t, std::vector<OpCell>> cells;
  for (const RankRow& rank : job_.ranks) {
    for (const OpTimes& one : database_.read_times(rank.number)) {
      if (chosen.contains(one.op)) cells[one.op].push_back({&rank, one.gpu_ns.mean(), one.wait_ns.mean()});
    }
  }
  for (const auto& [op, all] : cells) add_op(insert, job_.ops[op], all);
  connection_.run("CREATE INDEX rank_ops_rank ON rank_ops (rank)");
  if (chosen.size() < job_.ops.size()) {
    result_.notices.push_back(
        fmt::format("View rank_ops has the {} ops of {} that differ most between ranks.", chosen.size(), job_.ops.size()));
  }
}

}  // namespace

std::string column_of_view(const std::string& title) {
  std::string name;
  for (const char letter : title) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
      continue;
    }
    if (!name.empty() && name.back() != '_') name += '_';
    if (letter == '%') name += "pct_";
  }
  while (name.ends_with('_')) name.pop_back();
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "at_" + name : name;
}

PageViews write_page_views(Connection& connection, const std::filesystem::path& path, const JobAnalysis& job,
                           const PageBounds& bounds) {
  return PageWriter(connection, path, job, bounds).write();
}

std::string describe_page_views() {
  std::string text;
  for (const View& view : {iterations_view(), ops_view()}) text += fmt::format("- `{}`: {}\n", view.name, view.meaning);
  return text;
}

}  // namespace dlkprof::job
