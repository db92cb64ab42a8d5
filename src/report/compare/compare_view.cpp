#include "report/compare/compare_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "report/compare/compare_report.h"
#include "report/compare/compare_sentences.h"
#include "report/compare/compare_words.h"
#include "report/format/layout.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using advise::Comparison;
using advise::OpFigures;
using advise::OpPair;
using advise::RunFigures;

constexpr std::size_t kHeadWidth = 32;     // of a run's label over a column
constexpr std::size_t kOpTypeWidth = 40;   // of an op
constexpr std::size_t kOpPathWidth = 200;  // beneath it
constexpr std::size_t kKernelWidth = 60;
constexpr std::size_t kProgramWidth = 200;

using Shown = std::string (*)(double);
std::string as_time(double ns) { return time_text_of(ns); }
std::string as_share(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string as_percent(double percent) { return fmt::format("{:.1f} %", percent); }
std::string as_count(double count) { return humanize(std::round(count * 100) / 100, "").value; }
std::string as_rate(double rate) {
  const Quantity quantity = humanize(rate, "byte/s");
  return quantity.value + " " + quantity.unit;
}
std::string as_waves(double waves) { return humanize(waves, "").value; }

std::string shown(const std::optional<double>& value, Shown how) { return value ? how(*value) : ""; }

// What is shown of a run, and how.
struct Line {
  const char* name;
  const char* short_name;  // over a column; null: only shown in a row
  std::optional<double> (*get)(const RunFigures&);
  Shown how;
};

std::optional<double> known(const advise::Spread& spread) { return spread.n == 0 ? std::nullopt : std::optional(spread.median); }

// Over several kinds of iterations a median says nothing: side_by_side() has a row for each kind.
std::optional<double> of_one_kind(const RunFigures& run, double value) {
  return run.iteration.n == 0 || !run.kinds.empty() ? std::nullopt : std::optional(value);
}

constexpr std::array kLines{
    Line{"Batch size", "batch",
         [](const RunFigures& run) {
           return run.batch_size ? std::optional(static_cast<double>(*run.batch_size)) : std::optional<double>();
         },
         as_count},
    Line{"Whole iterations", "iterations",
         [](const RunFigures& run) { return std::optional(run.has_iterations ? static_cast<double>(run.iteration.n) : 0.0); },
         as_count},
    Line{"Iteration time, median", "iteration", [](const RunFigures& run) { return of_one_kind(run, run.iteration.median); },
         as_time},
    Line{"  lower quartile", nullptr, [](const RunFigures& run) { return of_one_kind(run, run.iteration.lower); }, as_time},
    Line{"  upper quartile", nullptr, [](const RunFigures& run) { return of_one_kind(run, run.iteration.upper); }, as_time},
    Line{"Time per sample", "per sample",
         [](const RunFigures& run) {
           return run.has_iterations && run.kinds.empty() ? run.per_sample(run.iteration.median) : std::optional<double>();
         },
         as_time},
    Line{"Samples per second", "samples/s", [](const RunFigures& run) { return run.samples_per_second(); }, as_count},
    Line{"GPU time per iteration, median", "GPU time", [](const RunFigures& run) { return of_one_kind(run, run.gpu.median); },
         as_time},
    Line{"GPU time per sample", nullptr,
         [](const RunFigures& run) {
           return run.has_iterations && run.kinds.empty() ? run.per_sample(run.gpu.median) : std::optional<double>();
         },
         as_time},
    Line{"GPU utilization, median", "GPU",
         [](const RunFigures& run) { return run.utilization ? known(*run.utilization) : std::optional<double>(); }, as_share},
    Line{"Tensor-core kernels, of GPU time", "TC", [](const RunFigures& run) { return run.tensor_core_share; }, as_share},
    Line{"SMs without a block", "idle SMs", [](const RunFigures& run) { return run.fill.idle_sms; }, as_share},
    Line{"GPU time below one wave", "< 1 wave", [](const RunFigures& run) { return run.fill.below_one_wave; }, as_share},
    Line{"Achieved occupancy", "occup.", [](const RunFigures& run) { return run.measured.occupancy; }, as_percent},
    Line{"Tensor pipe", nullptr, [](const RunFigures& run) { return run.measured.tensor_pipe; }, as_percent},
    Line{"DRAM rate", "DRAM", [](const RunFigures& run) { return run.measured.dram_rate; }, as_rate},
    Line{"DRAM throughput, of peak", nullptr, [](const RunFigures& run) { return run.measured.dram_throughput; }, as_percent},
    Line{"Measured, of GPU time of kernels", nullptr, [](const RunFigures& run) { return run.measured.share; }, as_share},
    Line{"Kernels per iteration", "kernels", [](const RunFigures& run) { return known(run.kernels); }, as_count},
    Line{"Launches per iteration", nullptr, [](const RunFigures& run) { return known(run.launches); }, as_count},
    Line{"Copies and sets per iteration", nullptr, [](const RunFigures& run) { return known(run.copies); }, as_count},
};

std::string head(const RunFigures& run) { return printable(run.label, kHeadWidth); }

std::string ratio_text(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after && *before > 0 ? times_text(*after / *before) : "";
}

// Length and GPU time of each kind of iterations that a run has, medians.
void add_kind_rows(const RunFigures& base, const RunFigures& other, CompareGrid& grid) {
  std::vector<std::string> names;
  for (const RunFigures* run : {&base, &other}) {
    for (const advise::KindFigures& kind : run->kinds) {
      if (std::find(names.begin(), names.end(), kind.name) == names.end()) names.push_back(kind.name);
    }
  }
  for (const std::string& name : names) {
    for (const auto& [what, spread] :
         {std::pair{"time", &advise::KindFigures::iteration}, std::pair{"GPU time", &advise::KindFigures::gpu}}) {
      const auto value = [&, member = spread](const RunFigures& run) {
        const advise::KindFigures* kind = run.find_kind(name);
        return kind == nullptr ? std::nullopt : std::optional((kind->*member).median);
      };
      const auto before = value(base), after = value(other);
      grid.rows.push_back({{fmt::format("{} iteration, {}", printable(name, kHeadWidth), what), shown(before, as_time),
                            shown(after, as_time), ratio_text(before, after)},
                           ""});
    }
  }
}

// Two runs: a figure a row.
CompareGrid side_by_side(const RunFigures& base, const RunFigures& other) {
  CompareGrid grid{"The whole run", {"", head(base), head(other), "ratio"}, {}, ""};
  for (const Line& line : kLines) {
    const auto before = line.get(base);
    const auto after = line.get(other);
    if (!before && !after) continue;
    grid.rows.push_back({{line.name, shown(before, line.how), shown(after, line.how), ratio_text(before, after)}, ""});
  }
  add_kind_rows(base, other, grid);
  return grid;
}

// More: a run a row.
CompareGrid scaling_grid(const std::vector<RunFigures>& runs) {
  CompareGrid grid{"", {"run"}, {}, ""};
  for (const Line& line : kLines) {
    if (line.short_name != nullptr) grid.columns.emplace_back(line.short_name);
  }
  for (const RunFigures& run : runs) {
    CompareRow& row = grid.rows.emplace_back();
    row.cells.push_back(head(run));
    for (const Line& line : kLines) {
      if (line.short_name != nullptr) row.cells.push_back(shown(line.get(run), line.how));
    }
  }
  return grid;
}

std::string op_text(const OpFigures& op) {
  const std::string direction = model::name_in(model::kDirections, op.direction);
  return printable(op.type, kOpTypeWidth) + (direction.empty() ? "" : " " + direction);
}

// The end of a long path says more than its beginning.
std::string path_text(const std::string& path) {
  const bool is_long = path.size() > kOpPathWidth;
  return (is_long ? "..." : "") +
         printable(is_long ? std::string_view(path).substr(path.size() - kOpPathWidth) : path, kOpPathWidth);
}

using Part = std::optional<double> (*)(const OpFigures&);
std::optional<double> idle_of(const OpFigures& op) { return op.fill.idle_sms; }
std::optional<double> occupancy_of(const OpFigures& op) { return op.measured.occupancy; }
std::optional<double> dram_of(const OpFigures& op) { return op.measured.dram_throughput; }

// "91.2 / 0.0": of base and other; empty where neither is known.
std::string both(const OpPair& pair, Part part, double scale) {
  const auto side = [&](const OpFigures* op) -> std::string {
    const auto value = op == nullptr ? std::nullopt : part(*op);
    return value ? fmt::format("{:.1f}", *value * scale) : "-";
  };
  const std::string text = side(pair.base) + " / " + side(pair.other);
  return text == "- / -" ? "" : text;
}

std::string side_time(const OpFigures* op) { return op == nullptr || !op->is_regular() ? "" : time_text_of(op->gpu.median); }

CompareRow op_row(const Comparison& comparison, const OpPair& pair) {
  CompareRow row;
  const auto& [base_ns, other_ns, ratio, p, judged] = pair.change;
  const bool in_both = pair.base != nullptr && pair.other != nullptr;
  const auto a_sample = ratio && comparison.batch_ratio ? std::optional(*ratio / *comparison.batch_ratio) : std::nullopt;
  const std::string found = !in_both                                   ? "one run only"
                            : pair.scaling != advise::Scaling::unknown ? scaling(pair.scaling)
                                                                       : verdict(judged);
  row.cells = {op_text(pair.either()),
               side_time(pair.base),
               side_time(pair.other),
               in_both && ratio ? times_text(*ratio) : "",
               in_both && a_sample ? times_text(*a_sample) : "",
               found,
               both(pair, idle_of, 100),
               both(pair, occupancy_of, 1),
               both(pair, dram_of, 1)};
  row.note = path_text(pair.either().name);
  return row;
}

CompareGrid ops_grid(const Comparison& comparison, std::size_t most) {
  CompareGrid grid{"Ops, by GPU time per iteration (median)",
                   {"op", head(*comparison.base), head(*comparison.other), "ratio", "per sample", "found", "idle SMs %",
                    "occupancy %", "DRAM %"},
                   {},
                   ""};
  const std::size_t count = std::min(most, comparison.ops.size());
  for (std::size_t i = 0; i < count; ++i) grid.rows.push_back(op_row(comparison, comparison.ops[i]));
  if (const std::size_t more = comparison.ops.size() - count; more > 0) grid.more = "and " + counted(more, "more op", "more ops");
  if (comparison.rare > 0) {
    grid.more += fmt::format("{}left out: {} something in fewer than half of the iterations", grid.more.empty() ? "" : "; ",
                             counted(comparison.rare, "op that launches", "ops that launch"));
  }
  return grid;
}

void add_kernels(const RunFigures& run, const OpFigures* op, CompareGrid& grid) {
  if (op == nullptr) return;
  constexpr std::size_t kMost = 4;
  for (std::size_t i = 0; i < std::min(op->kernels.size(), kMost); ++i) {
    const advise::KernelFigures& kernel = op->kernels[i];
    grid.rows.push_back({{"  " + printable(kernel.name, kKernelWidth), head(run), as_count(kernel.launches),
                          time_text_of(kernel.gpu_ns), shown(kernel.fill.waves, as_waves), shown(kernel.fill.idle_sms, as_share),
                          shown(kernel.measured.occupancy, as_percent)},
                         ""});
  }
}

CompareGrid kernels_grid(const Comparison& comparison, std::size_t most) {
  CompareGrid grid{"Kernels of these ops", {"kernel", "run", "launches", "GPU time", "waves", "idle SMs", "occupancy"}, {}, ""};
  for (std::size_t i = 0; i < std::min(most, comparison.ops.size()); ++i) {
    const OpPair& pair = comparison.ops[i];
    grid.rows.push_back({{op_text(pair.either())}, path_text(pair.either().name)});
    add_kernels(*comparison.base, pair.base, grid);
    add_kernels(*comparison.other, pair.other, grid);
  }
  return grid;
}

// "b4: python train.py; NVIDIA H200, driver 580.159.04, 2026-11-22"
std::string origin_text(const RunFigures& run) {
  std::vector<std::string> facts;
  for (const std::string& gpu : run.gpus) facts.push_back(printable(gpu, kHeadWidth));
  if (!run.driver.empty()) facts.push_back("driver " + printable(run.driver, kHeadWidth));
  if (run.start_unix_ns > 0) facts.push_back(day_text(run.start_unix_ns));
  return fmt::format("{}: {}{}{}", head(run), run.program.empty() ? "program not known" : printable(run.program, kProgramWidth),
                     facts.empty() ? "" : "; ", fmt::join(facts, ", "));
}

std::vector<std::string> footnotes() {
  return {
      fmt::format("Iterations before the key node first ended and after it last ended are left out: they are not whole. Times "
                  "are medians over iterations; a difference counts as faster or slower where the Mann-Whitney U test, "
                  "corrected after Holm for the number of ops, gives p < {} with at least {} iterations on either side. The "
                  "test knows the spread within the two runs, and not that from one run to the next.",
                  advise::kSignificance, advise::kLeastValues),
      fmt::format("Found, where batch sizes differ: time ~ batch^e. Fixed cost: e <= {0}; linear: e from {1} to {2}; sublinear "
                  "between, superlinear beyond.",
                  advise::kFlatExponent, 1 - advise::kFlatExponent, 1 + advise::kFlatExponent),
      "Idle SMs: those that get no block, as the grid has fewer blocks than the GPU has SMs. A wave is as many blocks as the "
      "GPU holds at once, by theoretical occupancy. Means are weighted by GPU time; kernels' times are means."};
}

}  // namespace

CompareView compare_view(const advise::ComparedRuns& compared, std::size_t most_ops) {
  CompareView view;
  view.title =
      fmt::format("{} compared with {}",
                  compared.runs.size() == 2 ? head(compared.runs.back()) : fmt::format("{} runs", compared.runs.size() - 1),
                  head(compared.runs.front()));
  const bool is_pair = compared.runs.size() == 2;
  if (!is_pair) view.sections.push_back({"The runs", {}, {scaling_grid(compared.runs)}});
  for (const Comparison& comparison : compared.pairs) {
    CompareSection& section = view.sections.emplace_back();
    section.heading =
        is_pair ? "What changed" : fmt::format("{} compared with {}", head(*comparison.other), head(*comparison.base));
    section.sentences = compare_sentences(comparison);
    if (is_pair) section.grids.push_back(side_by_side(*comparison.base, *comparison.other));
    section.grids.push_back(ops_grid(comparison, most_ops));
    section.grids.push_back(kernels_grid(comparison, most_ops));
  }
  for (const RunFigures& run : compared.runs) view.footnotes.push_back(origin_text(run));
  for (std::string& note : footnotes()) view.footnotes.push_back(std::move(note));
  return view;
}

}  // namespace dlkprof::report
