#include "report/format/people.h"
#include "report/launches/reports.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "advise/sampled_loops.h"
#include "advise/sampled_stalls.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using Instruction = advise::SampledInstruction;
using model::SassMetric;

// What is known of the instruction that a row is about.
class Source {
 public:
  Source(const model::Profile& profile, const model::Sass& sass, model::InstructionCounts counts,
         const std::vector<Instruction>& rows)
      : timeline_(profile.timeline),
        samples_(timeline_.pc_samples),
        sass_(sass),
        loops_(samples_, sass),
        counts_(std::move(counts)) {
    for (const Instruction& row : rows) line_shares_[line_of(row)] += row.percent.value_or(0);
  }

  [[nodiscard]] Cell kernel(const Instruction& row) const { return text_cell(timeline_.kernels[kernel_of(row)].name); }
  [[nodiscard]] const std::string* whole_kernel(const Instruction& row) const { return whole_name(timeline_, kernel_of(row)); }
  [[nodiscard]] Cell offset(const Instruction& row) const { return place(row).offset; }
  [[nodiscard]] Cell sass(const Instruction& row) const {
    const model::SassInstruction* known = sass_of(row);
    return known == nullptr ? Cell{} : text_cell(known->text);
  }
  [[nodiscard]] Cell file(const Instruction& row) const {
    return text_cell(std::string(advise::source_of(samples_, place(row), sass_of(row)).file));
  }
  [[nodiscard]] Cell line(const Instruction& row) const {
    const std::uint32_t line = advise::source_of(samples_, place(row), sass_of(row)).line;
    return line == 0 ? Cell{} : Cell{std::uint64_t{line}};
  }
  [[nodiscard]] Cell line_share(const Instruction& row) const {
    const Line line = line_of(row);
    return std::get<2>(line) == 0 || !row.percent ? Cell{} : Cell{line_shares_.at(line)};
  }
  [[nodiscard]] Cell loop(const Instruction& row) const {
    const advise::SampledLoop* loop = loops_.of(row.instruction);
    return loop == nullptr ? Cell{} : Cell{fmt::format("{:#x}-{:#x}", loop->head, loop->last)};
  }
  [[nodiscard]] Cell loop_lines(const Instruction& row) const {
    const advise::SampledLoop* loop = loops_.of(row.instruction);
    if (loop == nullptr || loop->first_line == 0) return {};
    return loop->first_line == loop->last_line ? Cell{fmt::format("{}", loop->first_line)}
                                               : Cell{fmt::format("{}-{}", loop->first_line, loop->last_line)};
  }
  [[nodiscard]] Cell loop_share(const Instruction& row) const {
    const advise::SampledLoop* loop = loops_.of(row.instruction);
    return loop == nullptr ? Cell{} : cell_of(loop->percent);
  }

  [[nodiscard]] Cell executed(const Instruction& row) const { return count(row, SassMetric::instructions); }
  [[nodiscard]] Cell threads(const Instruction& row) const {
    return cell_of(counts_.per_warp(row.instruction, SassMetric::threads));
  }
  [[nodiscard]] Cell predicated_on(const Instruction& row) const {
    return cell_of(counts_.per_warp(row.instruction, SassMetric::predicated_on_threads));
  }
  [[nodiscard]] Cell divergent(const Instruction& row) const { return count(row, SassMetric::divergent_branches); }
  [[nodiscard]] Cell sectors(const Instruction& row) const { return count(row, SassMetric::global_sectors); }
  [[nodiscard]] Cell excess_sectors(const Instruction& row) const {
    return cell_of(counts_.excess(row.instruction, SassMetric::global_sectors, SassMetric::ideal_global_sectors));
  }
  [[nodiscard]] Cell wavefronts(const Instruction& row) const { return count(row, SassMetric::shared_wavefronts); }
  [[nodiscard]] Cell excess_wavefronts(const Instruction& row) const {
    return cell_of(counts_.excess(row.instruction, SassMetric::shared_wavefronts, SassMetric::ideal_shared_wavefronts));
  }
  [[nodiscard]] Cell launches(const Instruction& row) const {
    const std::uint64_t launches = counts_.launches(row.instruction);
    return launches == 0 ? Cell{} : Cell{launches};
  }

 private:
  using Line = std::tuple<std::uint32_t, std::string_view, std::uint64_t>;  // kernel, file, number; 0: not known
  template <typename T>
  static Cell cell_of(const std::optional<T>& value) {
    return value ? Cell{*value} : Cell{};
  }
  [[nodiscard]] Cell count(const Instruction& row, SassMetric metric) const {
    return cell_of(counts_.of(row.instruction, metric));
  }
  [[nodiscard]] const model::PcInstruction& place(const Instruction& row) const { return samples_.instructions[row.instruction]; }
  [[nodiscard]] Line line_of(const Instruction& row) const {
    const advise::SourcePlace source = advise::source_of(samples_, place(row), sass_of(row));
    return {kernel_of(row), source.file, source.line};
  }
  [[nodiscard]] const model::SassInstruction* sass_of(const Instruction& row) const {
    const model::SassFunction* function = sass_.of(place(row).function);
    return function == nullptr ? nullptr : function->at(place(row).offset);
  }

  [[nodiscard]] std::uint32_t kernel_of(const Instruction& row) const { return samples_.functions[place(row).function].kernel; }

  const model::Timeline& timeline_;
  const model::PcSamples& samples_;
  const model::Sass& sass_;
  const advise::SampledLoops loops_;
  const model::InstructionCounts counts_;
  std::map<Line, double> line_shares_;  // %
};

Field<Instruction> source_field(const char* name, const char* unit, const std::shared_ptr<const Source>& source,
                                Cell (Source::*cell)(const Instruction&) const) {
  return {name, unit, [source, cell](const Instruction& row) { return (*source.*cell)(row); }};
}

Fields<Instruction> source_fields(const std::shared_ptr<const Source>& source) {
  auto kernel = source_field("Kernel Name", "", source, &Source::kernel);
  kernel.whole_name = [source](const Instruction& row) { return source->whole_kernel(row); };
  return {std::move(kernel),
          source_field("SASS Offset", kAddressUnit, source, &Source::offset),
          source_field("SASS", "", source, &Source::sass),
          source_field("Source File", "", source, &Source::file),
          source_field("Source Line", "", source, &Source::line),
          {"PC Samples", "", [](const Instruction& row) -> Cell { return row.samples; }},
          {"Stalled Samples", "", [](const Instruction& row) -> Cell { return row.stalled; }},
          {"Share Of Kernel (%)", "%", [](const Instruction& row) { return row.percent ? Cell{*row.percent} : Cell{}; }},
          {"Top Stall Reason", "",
           [](const Instruction& row) {
             const advise::Stall* top = advise::top_wait(row.stalls);
             return top == nullptr ? Cell{} : text_cell(top->name);
           }},
          {"Top Stall Share (%)", "%",
           [](const Instruction& row) {
             const advise::Stall* top = advise::top_wait(row.stalls);
             return top == nullptr ? Cell{} : Cell{top->percent};
           }},
          source_field("Line Share Of Kernel (%)", "%", source, &Source::line_share),
          source_field("Loop", "", source, &Source::loop),
          source_field("Loop Lines", "", source, &Source::loop_lines),
          source_field("Loop Share Of Kernel (%)", "%", source, &Source::loop_share),
          source_field("Instructions Executed", "", source, &Source::executed),
          source_field("Avg. Threads Executed", "", source, &Source::threads),
          source_field("Avg. Predicated-On Threads Executed", "", source, &Source::predicated_on),
          source_field("Divergent Branches", "", source, &Source::divergent),
          source_field("L2 Theoretical Sectors Global", "", source, &Source::sectors),
          source_field("L2 Theoretical Sectors Global Excessive", "", source, &Source::excess_sectors),
          source_field("L1 Wavefronts Shared", "", source, &Source::wavefronts),
          source_field("L1 Wavefronts Shared Excessive", "", source, &Source::excess_wavefronts),
          source_field("Launches Counted", "", source, &Source::launches)};
}

}  // namespace

Rows source_report(const model::Profile& profile, const model::Sass& sass) {
  const model::PcSamples& samples = profile.timeline.pc_samples;
  model::InstructionCounts counts(samples);
  std::vector<Instruction> rows = advise::instructions_of(samples, counts);
  const auto source = std::make_shared<const Source>(profile, sass, std::move(counts), rows);
  return make_rows("source", source_fields(source), std::move(rows));
}

}  // namespace dlkprof::report
