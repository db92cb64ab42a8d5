#include "report/source_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "advise/sampled_stalls.h"

namespace dlkprof::report {
namespace {

using Row = advise::SampledInstruction;

// The largest of what warps waited for there; none where all of them issued.
const advise::Stall* top_stall(const Row& row) {
  const auto waits = [](const advise::Stall& stall) { return stall.name != "selected"; };
  const auto found = std::find_if(row.stalls.begin(), row.stalls.end(), waits);
  return found == row.stalls.end() ? nullptr : &*found;
}

Fields<Row> source_fields(const Model& model) {
  const model::PcSamples& all = model.timeline.pc_samples;
  const auto place = [&all](const Row& row) -> const model::PcInstruction& { return all.instructions[row.instruction]; };
  const auto kernel = [&all, &kernels = model.timeline.kernels, place](const Row& row) {
    return text_cell(kernels[all.functions[place(row).function].kernel].name);
  };
  return {{"Kernel Name", "", kernel},
          {"SASS Offset", "byte", [place](const Row& row) -> Cell { return place(row).offset; }},
          {"Source File", "", [&all, place](const Row& row) { return text_cell(all.files[place(row).file]); }},
          {"Source Line", "",
           [place](const Row& row) { return place(row).line == 0 ? Cell{} : Cell{std::uint64_t{place(row).line}}; }},
          {"PC Samples", "", [](const Row& row) -> Cell { return row.samples; }},
          {"Share Of Kernel (%)", "%", [](const Row& row) -> Cell { return row.percent; }},
          {"Top Stall Reason", "",
           [](const Row& row) {
             const advise::Stall* top = top_stall(row);
             return top == nullptr ? Cell{} : text_cell(top->name);
           }},
          {"Top Stall Share (%)", "%", [](const Row& row) {
             const advise::Stall* top = top_stall(row);
             return top == nullptr ? Cell{} : Cell{top->percent};
           }}};
}

}  // namespace

Rows source_report(const Model& model) {
  auto rows = std::make_shared<const std::vector<Row>>(advise::sampled_instructions(model.timeline.pc_samples));
  const std::size_t count = rows->size();
  return make_rows("source", source_fields(model), count,
                   [rows = std::move(rows)](std::size_t i) -> const Row& { return (*rows)[i]; });
}

}  // namespace dlkprof::report
