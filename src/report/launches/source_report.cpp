#include "report/launches/reports.h"

#include "advise/sampled_stalls.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using Instruction = advise::SampledInstruction;

Fields<Instruction> source_fields(const model::Profile& profile) {
  const model::PcSamples& all = profile.timeline.pc_samples;
  const auto place = [&all](const Instruction& row) -> const model::PcInstruction& { return all.instructions[row.instruction]; };
  const auto kernel = [&all, &kernels = profile.timeline.kernels, place](const Instruction& row) {
    return text_cell(kernels[all.functions[place(row).function].kernel].name);
  };
  const auto whole = [&all, &timeline = profile.timeline, place](const Instruction& row) {
    return whole_name(timeline, all.functions[place(row).function].kernel);
  };
  return {{"Kernel Name", "", kernel, whole},
          {"SASS Offset", "byte", [place](const Instruction& row) -> Cell { return place(row).offset; }},
          {"Source File", "", [&all, place](const Instruction& row) { return text_cell(all.files[place(row).file]); }},
          {"Source Line", "",
           [place](const Instruction& row) { return place(row).line == 0 ? Cell{} : Cell{std::uint64_t{place(row).line}}; }},
          {"PC Samples", "", [](const Instruction& row) -> Cell { return row.samples; }},
          {"Share Of Kernel (%)", "%", [](const Instruction& row) -> Cell { return row.percent; }},
          {"Top Stall Reason", "",
           [](const Instruction& row) {
             const advise::Stall* top = advise::top_wait(row.stalls);
             return top == nullptr ? Cell{} : text_cell(top->name);
           }},
          {"Top Stall Share (%)", "%", [](const Instruction& row) {
             const advise::Stall* top = advise::top_wait(row.stalls);
             return top == nullptr ? Cell{} : Cell{top->percent};
           }}};
}

}  // namespace

Rows source_report(const model::Profile& profile) {
  return make_rows("source", source_fields(profile), advise::sampled_instructions(profile.timeline.pc_samples));
}

}  // namespace dlkprof::report
