#include "report/compare/compare_report.h"

#include <algorithm>
#include <array>
#include <map>

#include "report/compare/compare_sentences.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using advise::Comparison;
using advise::KernelFigures;
using advise::OpFigures;
using advise::OpPair;
using advise::RunFigures;

Cell cell_of(const std::optional<double>& value, double scale = 1) { return value ? Cell{*value * scale} : Cell{}; }
Cell count_cell(std::size_t count) { return static_cast<std::uint64_t>(count); }
constexpr double kPercent = 100;

std::string joined_texts(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

template <typename Row>
using Get = std::function<std::optional<double>(const Row&)>;

template <typename Row>
Field<Row> number_field(std::string name, std::string unit, Get<Row> get, double scale = 1) {
  return {std::move(name), std::move(unit), [get = std::move(get), scale](const Row& row) { return cell_of(get(row), scale); }};
}

// What grids and counters say; of every kind of row.
template <typename Row, typename FillOf, typename MeasuredOf>
Fields<Row> hardware_fields(const std::string& before, FillOf fill, MeasuredOf measured) {
  const auto of = [&](const char* name, const char* unit, auto part, auto member, double scale) {
    return number_field<Row>(
        before + name, unit,
        [part, member](const Row& row) {
          const auto* found = part(row);
          return found == nullptr ? std::optional<double>() : found->*member;
        },
        scale);
  };
  using advise::Fill;
  using advise::Measured;
  return {of("Idle SMs (%)", "%", fill, &Fill::idle_sms, kPercent),
          of("Below One Wave (%)", "%", fill, &Fill::below_one_wave, kPercent),
          of("Waves", "", fill, &Fill::waves, 1),
          of("Achieved Occupancy (%)", "%", measured, &Measured::occupancy, 1),
          of("Tensor Pipe (%)", "%", measured, &Measured::tensor_pipe, 1),
          of("DRAM Rate (byte/s)", "byte/s", measured, &Measured::dram_rate, 1),
          of("DRAM Throughput (%)", "%", measured, &Measured::dram_throughput, 1),
          of("Measured (%)", "%", measured, &Measured::share, kPercent)};
}

Fields<RunFigures> spread_fields(const std::string& what, const std::string& unit,
                                 std::function<std::optional<advise::Spread>(const RunFigures&)> get, double scale = 1) {
  const auto field = [&](const std::string& name, double advise::Spread::*member) {
    return number_field<RunFigures>(
        name + " (" + unit + ")", unit,
        [get, member](const RunFigures& run) {
          const auto spread = get(run);
          return spread ? std::optional((*spread).*member) : std::nullopt;
        },
        scale);
  };
  return {field(what, &advise::Spread::median), field(what + ", Lower Quartile", &advise::Spread::lower),
          field(what + ", Upper Quartile", &advise::Spread::upper)};
}

Fields<RunFigures> identity_fields() {
  return {{"Run", "", [](const RunFigures& run) -> Cell { return run.label; }},
          {"GPU", "", [](const RunFigures& run) { return text_cell(joined_texts(run.gpus)); }},
          {"Framework", "", [](const RunFigures& run) { return text_cell(joined_texts(run.frameworks)); }},
          {"Key Node", "", [](const RunFigures& run) { return text_cell(run.key_node); }},
          {"Batch Size", "sample", [](const RunFigures& run) { return run.batch_size ? Cell{*run.batch_size} : Cell{}; }},
          {"First Iteration", "", [](const RunFigures& run) -> Cell { return std::uint64_t{run.first}; }},
          {"Last Iteration", "", [](const RunFigures& run) -> Cell { return std::uint64_t{run.last}; }},
          {"Iterations", "", [](const RunFigures& run) { return count_cell(run.has_iterations ? run.iteration.n : 0); }}};
}

struct OpLine {
  const Comparison* comparison;
  const OpPair* pair;
};
struct KernelLine {
  const RunFigures* run;
  const OpFigures* op;
  const KernelFigures* kernel;
};

Fields<OpLine> side_fields(const std::string& before, const OpFigures* OpPair::*side, const RunFigures* Comparison::*run) {
  const auto op = [side](const OpLine& line) { return (*line.pair).*side; };
  const auto regular = [op](const OpLine& line) { return op(line) != nullptr && op(line)->is_regular() ? op(line) : nullptr; };
  const auto time = [&](const char* name, auto get) {
    return number_field<OpLine>(before + name, "ns", [regular, get](const OpLine& line) {
      const OpFigures* found = regular(line);
      return found == nullptr ? std::optional<double>() : std::optional<double>(get(*found));
    });
  };
  Fields<OpLine> fields{time("GPU Time (ns)", [](const OpFigures& of) { return of.gpu.median; }),
                        time("GPU Time, Lower Quartile (ns)", [](const OpFigures& of) { return of.gpu.lower; }),
                        time("GPU Time, Upper Quartile (ns)", [](const OpFigures& of) { return of.gpu.upper; })};
  fields.push_back(number_field<OpLine>(before + "Mean GPU Time (ns)", "ns", [op](const OpLine& line) {
    return op(line) == nullptr ? std::optional<double>() : std::optional(op(line)->mean_gpu_ns);
  }));
  fields.push_back(number_field<OpLine>(before + "GPU Time per Sample (ns)", "ns", [regular, run](const OpLine& line) {
    const OpFigures* found = regular(line);
    return found == nullptr ? std::optional<double>() : ((*line.comparison).*run)->per_sample(found->gpu.median);
  }));
  append(fields, hardware_fields<OpLine>(
                     before, [op](const OpLine& line) { return op(line) == nullptr ? nullptr : &op(line)->fill; },
                     [op](const OpLine& line) { return op(line) == nullptr ? nullptr : &op(line)->measured; }));
  return fields;
}

Fields<OpLine> op_fields() {
  Fields<OpLine> fields{{"Run", "", [](const OpLine& line) -> Cell { return line.comparison->other->label; }},
                        {"Base Run", "", [](const OpLine& line) -> Cell { return line.comparison->base->label; }},
                        {"Op Name", "", [](const OpLine& line) -> Cell { return line.pair->either().name; }},
                        {"Direction", "", [](const OpLine& line) { return direction_cell(line.pair->either().direction); }},
                        {"Op Type", "", [](const OpLine& line) -> Cell { return line.pair->either().type; }},
                        {"In", "", [](const OpLine& line) -> Cell {
                           return line.pair->other == nullptr ? "base only" : line.pair->base == nullptr ? "run only" : "both";
                         }}};
  append(fields, side_fields("Base ", &OpPair::base, &Comparison::base));
  append(fields, side_fields("", &OpPair::other, &Comparison::other));
  const auto change = [](const OpLine& line) -> const advise::Change& { return line.pair->change; };
  append(fields, {number_field<OpLine>("Ratio", "", [change](const OpLine& line) { return change(line).ratio; }),
                  number_field<OpLine>("Ratio per Sample", "",
                                       [change](const OpLine& line) {
                                         const auto& batch = line.comparison->batch_ratio;
                                         return change(line).ratio && batch ? std::optional(*change(line).ratio / *batch)
                                                                            : std::nullopt;
                                       }),
                  number_field<OpLine>("Scaling Exponent", "", [](const OpLine& line) { return line.pair->exponent; }),
                  {"Scaling", "", [](const OpLine& line) { return text_cell(scaling(line.pair->scaling)); }},
                  {"Verdict", "",
                   [change](const OpLine& line) -> Cell {
                     const bool both = line.pair->base != nullptr && line.pair->other != nullptr;
                     return both ? Cell{std::string(verdict(change(line).verdict))} : Cell{};
                   }},
                  number_field<OpLine>("p", "", [change](const OpLine& line) { return change(line).p; }),
                  {"Same Kernels", "", [](const OpLine& line) -> Cell {
                     const bool both = line.pair->base != nullptr && line.pair->other != nullptr;
                     return both ? Cell{line.pair->same_kernels} : Cell{};
                   }}});
  return fields;
}

Fields<KernelLine> kernel_fields() {
  Fields<KernelLine> fields{{"Run", "", [](const KernelLine& line) -> Cell { return line.run->label; }},
                            {"Op Name", "", [](const KernelLine& line) -> Cell { return line.op->name; }},
                            {"Direction", "", [](const KernelLine& line) { return direction_cell(line.op->direction); }},
                            {"Op Type", "", [](const KernelLine& line) -> Cell { return line.op->type; }},
                            {"Kernel Name", "", [](const KernelLine& line) -> Cell { return line.kernel->name; },
                             [](const KernelLine& line) { return &line.kernel->long_name; }},
                            {"Long Kernel Name", "", [](const KernelLine& line) -> Cell { return line.kernel->long_name; }},
                            {"Launches per Iteration", "", [](const KernelLine& line) -> Cell { return line.kernel->launches; }},
                            {"Mean GPU Time (ns)", "ns", [](const KernelLine& line) -> Cell { return line.kernel->gpu_ns; }},
                            {"Uses TC", "", [](const KernelLine& line) -> Cell { return line.kernel->uses_tc; }}};
  append(fields, hardware_fields<KernelLine>(
                     "", [](const KernelLine& line) { return &line.kernel->fill; },
                     [](const KernelLine& line) { return &line.kernel->measured; }));
  return fields;
}

std::vector<OpLine> op_lines(const advise::ComparedRuns& compared) {
  std::vector<OpLine> lines;
  for (const Comparison& comparison : compared.pairs) {
    for (const OpPair& pair : comparison.ops) lines.push_back({&comparison, &pair});
  }
  return lines;
}

std::vector<KernelLine> kernel_lines(const advise::ComparedRuns& compared) {
  std::vector<KernelLine> lines;
  for (const RunFigures& run : compared.runs) {
    for (const OpFigures& op : run.ops) {
      if (!op.is_regular()) continue;
      for (const KernelFigures& kernel : op.kernels) lines.push_back({&run, &op, &kernel});
    }
  }
  return lines;
}

Table findings_table(const advise::ComparedRuns& compared) {
  Table table{"findings", {{"Run", ""}, {"Base Run", ""}, {"Finding", ""}}, {}};
  for (const Comparison& comparison : compared.pairs) {
    for (std::string& sentence : compare_sentences(comparison))
      table.rows.push_back({comparison.other->label, comparison.base->label, std::move(sentence)});
  }
  return table;
}

// Of runs whose iterations are of several kinds.
Table kinds_table(const advise::ComparedRuns& compared) {
  Table table{
      "kinds", {{"Run", ""}, {"Kind", ""}, {"Iterations", ""}, {"Iteration Time (ns)", "ns"}, {"GPU Time (ns)", "ns"}}, {}};
  for (const RunFigures& run : compared.runs) {
    for (const advise::KindFigures& kind : run.kinds)
      table.rows.push_back({run.label, kind.name, count_cell(kind.iteration.n), kind.iteration.median, kind.gpu.median});
  }
  return table;
}

}  // namespace

const char* verdict(advise::ChangeVerdict verdict) {
  constexpr std::array kVerdicts{"untested", "no change", "faster", "slower"};
  return model::name_in(kVerdicts, verdict);
}

const char* scaling(advise::Scaling scaling) {
  constexpr std::array kScalings{"", "fixed cost", "sublinear", "linear", "superlinear"};
  return model::name_in(kScalings, scaling);
}

const Fields<RunFigures>& run_fields() {
  static const Fields<RunFigures> kFields = [] {
    Fields<RunFigures> fields = identity_fields();
    // Medians over iterations of several kinds are those of none: table kinds has them.
    const auto iteration = [](const RunFigures& run) { return run.kinds.empty() ? std::optional(run.iteration) : std::nullopt; };
    append(fields, spread_fields("Iteration Time", "ns", iteration));
    fields.push_back(number_field<RunFigures>("Time per Sample (ns)", "ns", [](const RunFigures& run) {
      return run.has_iterations && run.kinds.empty() ? run.per_sample(run.iteration.median) : std::nullopt;
    }));
    fields.push_back(number_field<RunFigures>("Throughput (sample/s)", "sample/s",
                                              [](const RunFigures& run) { return run.samples_per_second(); }));
    append(fields, spread_fields("GPU Time", "ns", [](const RunFigures& run) {
             return run.kinds.empty() ? std::optional(run.gpu) : std::nullopt;
           }));
    fields.push_back(number_field<RunFigures>("GPU Time per Sample (ns)", "ns", [](const RunFigures& run) {
      return run.has_iterations && run.kinds.empty() ? run.per_sample(run.gpu.median) : std::nullopt;
    }));
    append(fields, spread_fields(
                       "GPU Utilization", "%", [](const RunFigures& run) { return run.utilization; }, kPercent));
    fields.push_back(number_field<RunFigures>(
        "Tensor Core Share (%)", "%", [](const RunFigures& run) { return run.tensor_core_share; }, kPercent));
    append(fields, hardware_fields<RunFigures>(
                       "", [](const RunFigures& run) { return &run.fill; }, [](const RunFigures& run) { return &run.measured; }));
    fields.push_back({"Kernels per Iteration", "", [](const RunFigures& run) -> Cell { return run.kernels.median; }});
    fields.push_back({"Launches per Iteration", "", [](const RunFigures& run) -> Cell { return run.launches.median; }});
    fields.push_back({"Copies per Iteration", "", [](const RunFigures& run) -> Cell { return run.copies.median; }});
    return fields;
  }();
  return kFields;
}

std::vector<Table> compare_tables(const advise::ComparedRuns& compared) {
  const std::vector<OpLine> ops = op_lines(compared);
  const std::vector<KernelLine> kernels = kernel_lines(compared);
  std::vector<Table> tables{to_table(make_rows("runs", run_fields(), compared.runs)),
                            to_table(make_rows("ops", op_fields(), ops)),
                            to_table(make_rows("kernels", kernel_fields(), kernels)), findings_table(compared)};
  if (Table kinds = kinds_table(compared); !kinds.rows.empty()) tables.push_back(std::move(kinds));
  return tables;
}

std::string compare_json(const std::vector<Table>& tables) {
  std::string text = "{\n  \"report\": \"compare\",\n  \"tables\": {";
  const char* before = "\n";
  for (const Table& table : tables) {
    text += before;
    add_json_text(text, table.name);
    text += ": " + to_json(table);
    text.erase(text.find_last_not_of('\n') + 1);
    before = ",\n";
  }
  return text + "\n  }\n}\n";
}

std::string compare_csv(const std::vector<Table>& tables) {
  Table all{"compare", {{"Table", ""}}, {}};
  std::map<std::string, std::size_t> places;
  for (const Table& table : tables) {
    for (const Column& column : table.columns) {
      if (places.try_emplace(column.name, all.columns.size()).second) all.columns.push_back(column);
    }
  }
  for (const Table& table : tables) {
    for (const std::vector<Cell>& row : table.rows) {
      std::vector<Cell>& cells = all.rows.emplace_back(all.columns.size());
      cells.front() = table.name;
      for (std::size_t i = 0; i < row.size(); ++i) cells[places.at(table.columns[i].name)] = row[i];
    }
  }
  return to_csv(all);
}

std::string compare_json(const advise::ComparedRuns& compared) { return compare_json(compare_tables(compared)); }
std::string compare_csv(const advise::ComparedRuns& compared) { return compare_csv(compare_tables(compared)); }

}  // namespace dlkprof::report
