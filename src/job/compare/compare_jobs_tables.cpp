#include <set>

#include "job/compare/compare_jobs_report.h"
#include "report/compare/compare_report.h"

namespace dlkprof::job {
namespace {

using report::Cell;
using report::Table;

Cell known(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
Cell text(const std::string& value) { return value.empty() ? Cell() : Cell(value); }
Cell count(std::uint64_t value) { return Cell(value); }

template <typename Figure>
double median_over(const JobAnalysis& job, Figure figure) {
  std::vector<double> values;
  for (const RankRow& rank : job.ranks) values.push_back(figure(rank));
  return robust(std::move(values)).median;
}

Table jobs_table(const ComparedJobs& compared) {
  Table table{"jobs",
              {{"Job", ""},
               {"Ranks", ""},
               {"Hosts", ""},
               {"Roles", ""},
               {"Iterations", ""},
               {"Iteration (ns)", "ns"},
               {"Iteration, Lower Quartile (ns)", "ns"},
               {"Iteration, Upper Quartile (ns)", "ns"},
               {"Compute (ns)", "ns"},
               {"Collectives (ns)", "ns"},
               {"Exposed (ns)", "ns"},
               {"Waited (ns)", "ns"},
               {"Idle at Start (ns)", "ns"},
               {"Idle (ns)", "ns"},
               {"Slow Ranks", ""},
               {"Findings", ""}},
              {}};
  for (const ComparedJob& one : compared.jobs) {
    const JobAnalysis& job = one.job;
    std::set<std::string> hosts;
    std::uint64_t slow = 0;
    for (const RankRow& rank : job.ranks) {
      hosts.insert(rank.head->identity.host);
      slow += rank.slow ? 1 : 0;
    }
    const advise::Spread& length = one.figures.iteration;
    const auto length_cell = [&length](double value) { return length.n > 0 ? Cell(value) : Cell(); };
    table.rows.push_back({one.label, count(job.ranks.size()), count(hosts.size()), count(job.roles), count(length.n),
                          length_cell(length.median), length_cell(length.lower), length_cell(length.upper),
                          median_over(job, [](const RankRow& rank) { return rank.compute_ns; }),
                          median_over(job, [](const RankRow& rank) { return rank.collective_ns; }),
                          median_over(job, [](const RankRow& rank) { return rank.exposed_ns; }),
                          median_over(job, [](const RankRow& rank) { return rank.waited_ns; }),
                          median_over(job, [](const RankRow& rank) { return rank.input_ns; }),
                          median_over(job, [](const RankRow& rank) { return rank.idle_ns; }), slow, count(job.findings.size())});
  }
  return table;
}

std::vector<Cell> side_cells(const advise::OpFigures* op) {
  if (op == nullptr) return {Cell(), Cell(), Cell(), Cell()};
  return {count(op->occurs), op->gpu.median, op->gpu.lower, op->gpu.upper};
}

void add_op(const JobComparison& comparison, const advise::OpPair& pair, Table& table) {
  const bool both = pair.base != nullptr && pair.other != nullptr;
  const advise::OpFigures& op = pair.either();
  std::vector<Cell> row{comparison.other->label, comparison.base->label, op.name, report::direction_cell(op.direction), op.type};
  for (const advise::OpFigures* side : {pair.base, pair.other}) {
    for (Cell& cell : side_cells(side)) row.push_back(std::move(cell));
  }
  const Cause cause = pair.change.verdict == advise::ChangeVerdict::slower ? comparison.cause_of_op(pair) : Cause::none;
  row.insert(row.end(),
             {both ? known(pair.change.ratio) : Cell(), both ? Cell(std::string(report::verdict(pair.change.verdict))) : Cell(),
              known(pair.change.p), text(cause_text(cause))});
  table.rows.push_back(std::move(row));
}

Table ops_table(const ComparedJobs& compared) {
  Table table{"ops",
              {{"Job", ""},
               {"Base Job", ""},
               {"Op Name", ""},
               {"Direction", ""},
               {"Op Type", ""},
               {"Base Ranks", ""},
               {"Base GPU Time (ns)", "ns"},
               {"Base GPU Time, Lower Quartile (ns)", "ns"},
               {"Base GPU Time, Upper Quartile (ns)", "ns"},
               {"Ranks", ""},
               {"GPU Time (ns)", "ns"},
               {"GPU Time, Lower Quartile (ns)", "ns"},
               {"GPU Time, Upper Quartile (ns)", "ns"},
               {"Ratio", ""},
               {"Verdict", ""},
               {"p", ""},
               {"Cause", ""}},
              {}};
  for (const JobComparison& comparison : compared.pairs) {
    for (const advise::OpPair& pair : comparison.figures.ops) add_op(comparison, pair, table);
  }
  return table;
}

Table ranks_table_of(const ComparedJobs& compared) {
  Table table{"ranks",
              {{"Job", ""},
               {"Base Job", ""},
               {"Rank", ""},
               {"Base Host", ""},
               {"Host", ""},
               {"Base Own Time (ns)", "ns"},
               {"Own Time (ns)", "ns"},
               {"Grown beyond Others (ns)", "ns"},
               {"Base Waited (ns)", "ns"},
               {"Waited (ns)", "ns"},
               {"Base Finding", ""},
               {"Finding", ""},
               {"Op Name", ""},
               {"Op Grown beyond Others (ns)", "ns"},
               {"Cause", ""}},
              {}};
  for (const JobComparison& comparison : compared.pairs) {
    for (const RankChange& rank : comparison.ranks) {
      table.rows.push_back({comparison.other->label, comparison.base->label, count(rank.base->number),
                            rank.base->head->identity.host, rank.other->head->identity.host, rank.base_own_ns, rank.own_ns,
                            rank.excess_ns, rank.base->waited_ns, rank.other->waited_ns, text(rank.base_rule), text(rank.rule),
                            text(rank.op), rank.op.empty() ? Cell() : Cell(rank.op_excess_ns), text(cause_text(rank.cause))});
    }
  }
  return table;
}

Table collectives_table_of(const ComparedJobs& compared) {
  Table table{"collectives",
              {{"Job", ""},
               {"Base Job", ""},
               {"Collective", ""},
               {"Base Message (bytes)", "byte"},
               {"Message (bytes)", "byte"},
               {"Base Collectives", ""},
               {"Collectives", ""},
               {"Base Alone (ns)", "ns"},
               {"Alone (ns)", "ns"},
               {"Ratio", ""},
               {"Base Waited (ns)", "ns"},
               {"Waited (ns)", "ns"},
               {"Base Bus Bandwidth (byte/s)", "byte/s"},
               {"Bus Bandwidth (byte/s)", "byte/s"}},
              {}};
  for (const JobComparison& comparison : compared.pairs) {
    for (const auto& [key, base, other] : collective_pairs(comparison)) {
      const auto of = [](const CollectiveFigures* side, auto figure) { return side == nullptr ? Cell() : Cell(figure(*side)); };
      const auto alone = [](const CollectiveFigures& one) { return one.alone_ns; };
      const auto waited = [](const CollectiveFigures& one) { return one.waited_ns; };
      const auto calls = [](const CollectiveFigures& one) { return one.collectives; };
      const auto bytes = [](const CollectiveFigures* side) { return side == nullptr ? Cell() : known(side->bytes); };
      const auto bus = [](const CollectiveFigures* side) { return side == nullptr ? Cell() : known(side->bus_bytes_per_s); };
      const bool both = base != nullptr && other != nullptr && base->alone_ns > 0;
      table.rows.push_back({comparison.other->label, comparison.base->label, key.first, bytes(base), bytes(other),
                            of(base, calls), of(other, calls), of(base, alone), of(other, alone),
                            both ? Cell(other->alone_ns / base->alone_ns) : Cell(), of(base, waited), of(other, waited),
                            bus(base), bus(other)});
    }
  }
  return table;
}

Table sentences_table(const ComparedJobs& compared) {
  Table table{"findings", {{"Job", ""}, {"Base Job", ""}, {"Finding", ""}}, {}};
  for (const JobComparison& comparison : compared.pairs) {
    for (std::string& sentence : compare_jobs_sentences(comparison))
      table.rows.push_back({comparison.other->label, comparison.base->label, std::move(sentence)});
  }
  return table;
}

}  // namespace

std::vector<Table> compare_jobs_tables(const ComparedJobs& compared) {
  return {jobs_table(compared), ops_table(compared), ranks_table_of(compared), collectives_table_of(compared),
          sentences_table(compared)};
}

}  // namespace dlkprof::job
