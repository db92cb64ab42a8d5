#include "job/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "report/format/layout.h"

namespace dlkprof::job {
namespace {

using report::Cell;
using report::Table;

template <typename Number>
Cell cell_of(const std::optional<Number>& value) {
  return value ? Cell(*value) : Cell();
}

// Nothing is said of a figure that was not measured.
Cell measured(double value) { return value > 0 ? Cell(value) : Cell(); }

Cell number(std::uint32_t value) { return Cell(std::uint64_t{value}); }

Table ranks_table(const JobAnalysis& job) {
  Table table{"ranks",
              {{"Rank", ""},
               {"Role", ""},
               {"Host", ""},
               {"GPU", ""},
               {"PCI Bus", ""},
               {"Clock (Hz)", "hz"},
               {"Iterations", ""},
               {"Iteration (ns)", "ns"},
               {"Deviation (ns)", "ns"},
               {"GPU (%)", "%"},
               {"Compute (ns)", "ns"},
               {"Collectives (ns)", "ns"},
               {"Exposed (ns)", "ns"},
               {"Waited (ns)", "ns"},
               {"Idle at Start (ns)", "ns"},
               {"Idle (ns)", "ns"},
               {"Instructions", ""},
               {"DRAM (bytes)", "byte"},
               {"Slow", ""},
               {"Complete", ""},
               {"Clock Offset (ns)", "ns"},
               {"Clock Drift (ppm)", ""},
               {"Offset Error (ns)", "ns"},
               {"Drift Error (ppm)", ""}},
              {}};
  for (const RankRow& row : job.ranks) {
    const Rank& head = *row.head;
    // What an iteration launches may run into the next.
    const Cell busy = row.length.mean > 0 ? Cell(std::min(100.0, 100 * row.gpu_ns / row.length.mean)) : Cell();
    table.rows.push_back({number(row.number),
                          number(row.role),
                          head.identity.host,
                          head.gpu,
                          head.pci_bus_id,
                          measured(head.clock_hz),
                          row.iterations,
                          row.length.mean,
                          row.length.deviation,
                          busy,
                          row.compute_ns,
                          row.collective_ns,
                          row.exposed_ns,
                          row.waited_ns,
                          row.input_ns,
                          row.idle_ns,
                          measured(row.instructions),
                          measured(row.dram_bytes),
                          row.slow,
                          head.ended && head.damaged == 0,
                          cell_of(row.clock_offset_ns),
                          cell_of(row.clock_drift_ppm),
                          cell_of(row.clock_error_ns),
                          cell_of(row.clock_drift_error_ppm)});
  }
  return table;
}

Table stragglers_table(const JobAnalysis& job) {
  Table table{"stragglers",
              {{"Collective", ""},
               {"Role", ""},
               {"Communicator", ""},
               {"Number", ""},
               {"Iteration", ""},
               {"Ranks", ""},
               {"Last Rank", ""},
               {"Waited (ns)", "ns"},
               {"Late (ns)", "ns"},
               {"Alone (ns)", "ns"},
               {"Late by Op", ""},
               {"Op Excess (ns)", "ns"}},
              {}};
  for (const CollectiveRow& row : job.collectives) {
    table.rows.push_back({job.kinds[row.kind], number(row.role), number(row.communicator), number(row.sequence),
                          number(row.iteration), std::uint64_t{row.ranks}, number(row.last_rank), row.waited_ns, row.late_ns,
                          row.shortest_ns, row.op == kNone ? Cell() : Cell(job.ops[row.op].name),
                          row.op == kNone ? Cell() : Cell(row.op_excess_ns)});
  }
  return table;
}

Table critical_table(const JobAnalysis& job) {
  Table table{"critical_ranks",
              {{"Role", ""},
               {"Iteration", ""},
               {"Critical Rank", ""},
               {"Waited (ns)", "ns"},
               {"Late by Op", ""},
               {"Collectives", ""},
               {"Waited for All (ns)", "ns"}},
              {}};
  for (const CriticalRow& row : job.critical) {
    table.rows.push_back({number(row.role), number(row.iteration), number(row.critical_rank), row.waited_ns,
                          row.op == kNone ? Cell() : Cell(job.ops[row.op].name), row.collectives, row.all_waited_ns});
  }
  return table;
}

// Means per iteration and rank of collectives of a kind and a size, over the ranks of a role.
std::vector<Cell> overlap_row(const JobAnalysis& job, const CollectiveKindRow& row) {
  const double n = std::max(1.0, row.rank_iterations);
  const double all = static_cast<double>(row.length_ns.sum);
  return {Cell(),
          number(row.role),
          job.kinds[row.kind],
          cell_of(row.bytes),
          static_cast<double>(row.calls) / n,
          Cell(),
          Cell(),
          all / n,
          row.exposed_ns / n,
          (all - row.exposed_ns) / n,
          all > 0 ? Cell(100 * (1 - row.exposed_ns / all)) : Cell(),
          row.waited_ns / n,
          cell_of(row.bus_bytes_per_s)};
}

Table overlap_table(const JobAnalysis& job) {
  Table table{"overlap",
              {{"Rank", ""},
               {"Role", ""},
               {"Collective", ""},
               {"Message (bytes)", "byte"},
               {"Calls per Iteration", ""},
               {"Iteration (ns)", "ns"},
               {"GPU (ns)", "ns"},
               {"Collectives (ns)", "ns"},
               {"Exposed (ns)", "ns"},
               {"Beside Computation (ns)", "ns"},
               {"Overlapped (%)", "%"},
               {"Waited (ns)", "ns"},
               {"Bus Bandwidth (byte/s)", "byte/s"}},
              {}};
  for (const CollectiveKindRow& row : job.kind_rows) table.rows.push_back(overlap_row(job, row));
  for (const RankRow& row : job.ranks) {
    const double beside = row.collective_ns - row.exposed_ns;
    table.rows.push_back({number(row.number), number(row.role), Cell(), Cell(), Cell(), row.length.mean, row.gpu_ns,
                          row.collective_ns, row.exposed_ns, beside,
                          row.collective_ns > 0 ? Cell(100 * beside / row.collective_ns) : Cell(), row.waited_ns, Cell()});
  }
  return table;
}

Table collectives_table(const JobAnalysis& job) {
  Table table{"collectives",
              {{"Collective", ""},
               {"Role", ""},
               {"Message (bytes)", "byte"},
               {"Bus Bandwidth (byte/s)", "byte/s"},
               {"Calls", ""},
               {"Mean (ns)", "ns"},
               {"Min (ns)", "ns"},
               {"Max (ns)", "ns"},
               {"Alone (ns)", "ns"}},
              {}};
  for (const CollectiveKindRow& row : job.kind_rows) {
    table.rows.push_back({job.kinds[row.kind], number(row.role), cell_of(row.bytes), cell_of(row.bus_bytes_per_s), row.calls,
                          row.length_ns.mean(), row.length_ns.least, row.length_ns.most, row.alone_ns});
  }
  return table;
}

// A row of an op and what follows.
std::vector<Cell> op_row(const JobAnalysis& job, const OpSpread& row, const std::vector<Cell>& rest) {
  const OpName& op = job.ops[row.op];
  std::vector<Cell> cells{op.name, op.direction, op.type, number(row.role), std::uint64_t{row.ranks}};
  cells.insert(cells.end(), rest.begin(), rest.end());
  return cells;
}

Table imbalance_table(const JobAnalysis& job) {
  Table table{"imbalance",
              {{"Op Name", ""},
               {"Direction", ""},
               {"Op Type", ""},
               {"Role", ""},
               {"Ranks", ""},
               {"Min (ns)", "ns"},
               {"5 % (ns)", "ns"},
               {"Median (ns)", "ns"},
               {"95 % (ns)", "ns"},
               {"Max (ns)", "ns"},
               {"Rank of Max", ""},
               {"Cause", ""}},
              {}};
  for (const OpSpread& row : job.spreads) {
    const Cell cause = row.cause == Cause::none ? Cell() : Cell(std::string(cause_text(row.cause)));
    table.rows.push_back(op_row(job, row, {row.least, row.p5, row.median, row.p95, row.most, number(row.rank_of_most), cause}));
  }
  return table;
}

Table variance_table(const JobAnalysis& job) {
  Table table{"variance",
              {{"Op Name", ""},
               {"Direction", ""},
               {"Op Type", ""},
               {"Role", ""},
               {"Ranks", ""},
               {"Median (ns)", "ns"},
               {"Within Ranks (ns)", "ns"},
               {"Between Ranks (ns)", "ns"},
               {"Between (%)", "%"}},
              {}};
  for (const OpSpread& row : job.spreads) {
    const double both = row.within * row.within + row.between * row.between;
    const Cell share = both > 0 ? Cell(100 * row.between * row.between / both) : Cell();
    table.rows.push_back(op_row(job, row, {row.median, row.within, row.between, share}));
  }
  return table;
}

Table findings_table(const JobAnalysis& job) {
  Table table{"job_findings",
              {{"Rule", ""}, {"Rank", ""}, {"Op Name", ""}, {"Lost per Iteration (ns)", "ns"}, {"Finding", ""}, {"Advice", ""}},
              {}};
  for (const JobFinding& row : job.findings) {
    table.rows.push_back({row.rule, row.rank ? number(*row.rank) : Cell(), row.op.empty() ? Cell() : Cell(row.op), row.lost_ns,
                          row.headline, row.advice});
  }
  return table;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<JobReport>& job_reports() {
  static const std::vector<JobReport> kReports{
      {"ranks",
       "rank",
       ranks_table,
       {{"Rank", "Rank"},
        {"Host", "Host"},
        {"Iteration (ns)", "Iteration"},
        {"Deviation (ns)", "+-"},
        {"GPU (%)", "GPU"},
        {"Compute (ns)", "Compute"},
        {"Exposed (ns)", "Exposed"},
        {"Waited (ns)", "Waited"},
        {"Idle at Start (ns)", "Idle at\nstart"},
        {"Idle (ns)", "Idle"},
        {"Clock (Hz)", "Clock"},
        {"Slow", "Slow"},
        {"Instructions", "Instr."}},
       true},
      {"stragglers",
       "collective on all ranks of a role; the longest waited for first",
       stragglers_table,
       {{"Collective", "Collective"},
        {"Iteration", "Iteration"},
        {"Last Rank", "Last\nrank"},
        {"Waited (ns)", "Others\nwaited"},
        {"Late by Op", "Late by"},
        {"Op Excess (ns)", "by"}}},
      {"critical_ranks",
       "iteration of a role, with the rank that the others waited longest for",
       critical_table,
       {{"Iteration", "Iteration"},
        {"Critical Rank", "Critical\nrank"},
        {"Waited (ns)", "Others\nwaited"},
        {"Late by Op", "Late by"},
        {"Waited for All (ns)", "Waited\nfor all"}},
       true},
      {"overlap",
       "kind and size of collectives, over the ranks of a role; then one row per rank",
       overlap_table,
       {{"Collective", "Collective"},
        {"Rank", "Rank"},
        {"Message (bytes)", "Message"},
        {"Bus Bandwidth (byte/s)", "Bus"},
        {"Collectives (ns)", "Collectives"},
        {"Exposed (ns)", "Alone"},
        {"Beside Computation (ns)", "Beside\ncompute"},
        {"Overlapped (%)", "Overlapped"},
        {"Waited (ns)", "Waited"}},
       true},
      {"collectives",
       "kind and size of collectives, where captures know the size: from a power of two to the next",
       collectives_table,
       {{"Collective", "Collective"},
        {"Message (bytes)", "Message"},
        {"Bus Bandwidth (byte/s)", "Bus"},
        {"Calls", "Calls"},
        {"Mean (ns)", "Mean"},
        {"Alone (ns)", "Alone"},
        {"Max (ns)", "Max"}}},
      {"imbalance",
       "op; the greatest difference first",
       imbalance_table,
       {{"Op Name", "Op"},
        {"Median (ns)", "Median"},
        {"Max (ns)", "Max"},
        {"Rank of Max", "Rank\nof max"},
        {"Cause", "Cause"},
        {"5 % (ns)", "5 %"},
        {"95 % (ns)", "95 %"}}},
      {"variance",
       "op; standard deviations of its GPU time over iterations and between ranks",
       variance_table,
       {{"Op Name", "Op"},
        {"Median (ns)", "Median"},
        {"Within Ranks (ns)", "Within\nranks"},
        {"Between Ranks (ns)", "Between\nranks"},
        {"Between (%)", "Between"}}},
      {"job_findings",
       "finding over ranks",
       findings_table,
       {{"Rule", "Rule"}, {"Rank", "Rank"}, {"Lost per Iteration (ns)", "Lost per\niteration"}, {"Op Name", "Op"}}},
  };
  return kReports;
}

std::vector<std::string> job_report_names() {
  std::vector<std::string> names;
  for (const JobReport& one : job_reports()) names.emplace_back(one.name);
  return names;
}

std::string job_screen(const JobAnalysis& job, const report::Page& page) {
  constexpr std::size_t kMostFindings = 10, kIndent = 2;
  std::set<std::string> hosts;
  for (const RankRow& row : job.ranks) hosts.insert(row.head->identity.host);
  using report::counted;
  std::string text =
      fmt::format("{} on {}, {}, {}\n\n", counted(job.ranks.size(), "rank", "ranks"), counted(hosts.size(), "host", "hosts"),
                  counted(job.roles, "role", "roles"), counted(job.collectives.size(), "collective", "collectives"));
  if (job.findings.empty()) text += "No problem was found. --reports ranks compares the ranks.\n";
  for (std::size_t i = 0; i < std::min(job.findings.size(), kMostFindings); ++i) {
    const JobFinding& one = job.findings[i];
    const std::string head = fmt::format("{}: {}", one.rule, printable(one.headline));
    text += report::wrap(head, page.width, kIndent, 0) + "\n";
    text += "  " + report::wrap(printable(one.advice), page.width, kIndent, kIndent) + "\n";
  }
  if (job.findings.size() > kMostFindings)
    text += fmt::format("and {} more: --reports job_findings\n", job.findings.size() - kMostFindings);
  return text;
}

}  // namespace dlkprof::job
