#include "report/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "report/diagnosis/reports.h"
#include "report/launches/reports.h"
#include "report/ops/reports.h"

namespace dlkprof::report {
namespace {

template <Rows (*Make)(const model::Profile&)>
Rows of_profile(const Inputs& inputs) {
  return Make(inputs.profile);
}

// What is long is asked for by name.
constexpr std::array kReports{
    Report{
        .name = "summary", .a_row_per = "a figure of one of DLProf's tables", .order = "DLProf's guide", .in_simple_mode = true},
    Report{.name = "detail",
           .a_row_per = "an op",
           .order = "GPU time",
           .rows = of_profile<detail_report>,
           .groups = true,
           .of_ops = true},
    Report{.name = "iteration",
           .a_row_per = "a kernel call, copy or set",
           .order = "GPU execution",
           .rows = of_profile<iteration_report>,
           .of_ops = true},
    Report{.name = "iterations",
           .a_row_per = "a [kind of iterations](ops-and-iterations.md#kinds-of-iterations), and what holds it back",
           .order = "GPU time",
           .rows = of_profile<iterations_report>,
           .of_ops = true,
           .in_all = false},
    Report{.name = "kernel",
           .a_row_per = "a kernel of an op",
           .order = "GPU time",
           .rows = of_profile<kernel_report>,
           .groups = true,
           .of_ops = true,
           .in_simple_mode = true},
    Report{.name = "tensor",
           .a_row_per = "an op that can use tensor cores, or does",
           .order = "GPU time",
           .rows = of_profile<tensor_report>,
           .groups = true,
           .of_ops = true,
           .when_empty = "no op can use tensor cores"},
    Report{.name = "op_type",
           .a_row_per = "a type of op",
           .order = "GPU time",
           .rows = of_profile<op_type_report>,
           .groups = true,
           .of_ops = true},
    Report{
        .name = "group_node",
        .a_row_per = "a node of the op tree with others below it; its times are of the whole sub-tree, one value per iteration",
        .order = "name",
        .rows = of_profile<group_node_report>,
        .groups = true,
        .of_ops = true,
        .when_empty = "no op has others below it"},
    Report{.name = "expert_systems",
           .a_row_per = "a problem found, with what to do about it and the estimated gain: [rules](../reference/rules.md)",
           .order = "time at stake",
           .rows = of_profile<expert_systems_report>,
           .text = findings_text,
           .of_ops = true,
           .when_empty = "no rule fires"},
    Report{.name = "findings",
           .a_row_per = "a figure that a problem found rests on, with the query that gives it; as JSON for machines: "
                        "[findings](../reference/findings.md)",
           .order = "time at stake",
           .rows = of_profile<findings_report>,
           .json = findings_json,
           .when_empty = "no rule fires",
           .in_all = false},
    Report{.name = "bottleneck",
           .a_row_per = "an op, or after it a kernel of it: what holds it back, the figures that say so, and a bound on what "
                        "mending it saves",
           .order = "GPU time",
           .rows = of_profile<bottleneck_report>,
           .groups = true,
           .of_ops = true},
    Report{
        .name = "occupancy",
        .a_row_per = "a launch configuration: theoretical and achieved occupancy, what limits it, and how far the next step is",
        .order = "GPU time",
        .rows = of_profile<occupancy_report>,
        .when_empty = "no kernel was launched"},
    Report{.name = "stall",
           .a_row_per = "a stall reason of a measured op or kernel; then, of kernels that were sampled and not measured",
           .order = "GPU time, then share",
           .rows = of_profile<stall_report>},
    Report{.name = "memory",
           .a_row_per = "a measured op or kernel: DRAM, L2, L1 and shared memory",
           .order = "GPU time",
           .rows = of_profile<memory_report>},
    Report{.name = "roofline",
           .a_row_per = "a precision of a measured op or kernel: arithmetic intensity and performance beside their peaks",
           .order = "GPU time",
           .rows = of_profile<roofline_report>,
           .picture = roofline_svg},
    Report{.name = "coverage",
           .a_row_per = "a launch configuration: how many of its launches were seen, matched, measured and skipped, their GPU "
                        "time, and why it was not measured as often as asked",
           .order = "GPU time",
           .rows = of_profile<coverage_report>,
           .when_empty = "no kernel was launched"},
    Report{.name = "measured",
           .a_row_per = "a metric of a launch configuration, of the launches that were measured alike: on how many, how far they "
                        "lie apart, how they were collected",
           .order = "configurations",
           .rows = of_profile<measured_report>,
           .when_empty = "no launch was measured"},
    Report{.name = "source",
           .a_row_per =
               "an instruction of a kernel that was sampled or counted: SASS, source line, samples, top stall reason, loop, how "
               "often it ran, excess memory accesses",
           .order = "kernels by samples, then samples, then executions",
           .rows = [](const Inputs& inputs) { return source_report(inputs.profile, inputs.sass); },
           .in_all = false},
    Report{.name = "occupancy_curves",
           .a_row_per = "a point of theoretical occupancy over block size, registers or shared memory of a launch configuration",
           .order = "GPU time",
           .rows = of_profile<occupancy_curves_report>,
           .in_all = false},
    Report{
        .name = "sampling",
        .a_row_per = "a metric of a sampled op or kernel, with its numbers of samples and launches and its confidence interval",
        .order = "GPU time, then metric",
        .rows = of_profile<sampling_report>,
        .when_empty = "GPUs were not sampled: collect it with --replay-mode sample",
        .in_all = false},
    Report{.name = "utilization",
           .a_row_per = "a stretch of time in which a GPU was sampled, and a metric: with its iteration and the time within it",
           .order = "GPU, metric, time",
           .rows = of_profile<utilization_report>,
           .when_empty = "GPUs were not sampled: collect it with --replay-mode sample",
           .in_all = false},
    Report{.name = "metrics",
           .a_row_per = "a launch that was measured; a column a metric, base units; then, of each metric, the spread over the "
                        "launches of its key",
           .order = "launches",
           .rows = [](const Inputs& inputs) { return metrics_report(inputs.profile, inputs.unit_of); },
           .in_all = false,
           .in_simple_mode = true,
           .of_launches = true},
    Report{.name = "kernels",
           .a_row_per = "a figure of a section of a launch that was measured",
           .order = "launches",
           .rows = [](const Inputs& inputs) { return kernels_report(inputs.profile, inputs.sections); },
           .in_all = false,
           .in_simple_mode = true,
           .of_launches = true}};

template <typename Keep>
std::vector<std::string> names_of(Keep keep) {
  std::vector<std::string> names;
  for (const Report& one : kReports) {
    if (keep(one)) names.emplace_back(one.name);
  }
  return names;
}

const Report* find_report(const std::string& name) {
  const auto* found = std::find_if(kReports.begin(), kReports.end(), [&name](const Report& one) { return name == one.name; });
  return found == kReports.end() ? nullptr : found;
}

// DLProf's name of a report in ours.
std::string our_name(const std::string& name) { return name == "node_op" ? "op_type" : name; }

const Report& asked_report(const std::string& asked, bool simple) {
  const Report* found = find_report(our_name(asked));
  if (found == nullptr) {
    const std::vector<std::string> names = names_of([](const Report&) { return true; });
    const std::string near = closest(asked, names);
    throw UsageError(fmt::format("there is no report '{}'", printable(asked, 40)), "",
                     near.empty() ? fmt::format("There are: {}", fmt::join(names, ", ")) : fmt::format("Did you mean {}?", near));
  }
  if (simple && !found->in_simple_mode) {
    const auto names = names_of([](const Report& one) { return one.in_simple_mode; });
    throw UsageError(fmt::format("there is no report {} in simple mode", found->name), "",
                     fmt::format("There are: {}. Leave out --mode=simple for the others.", fmt::join(names, ", ")));
  }
  return *found;
}

}  // namespace

std::span<const Report> reports() { return kReports; }

const Report& report_of(const std::string& name) { return asked_report(name, false); }

std::vector<std::string> report_names(const std::vector<std::string>& names, bool simple) {
  std::vector<std::string> found;
  const auto add = [&found](const std::string& name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  };
  for (const std::string& name : names) {
    if (name != "all") {
      add(asked_report(name, simple).name);
      continue;
    }
    for (const Report& one : kReports) {
      if (one.in_all && (!simple || one.in_simple_mode)) add(one.name);
    }
  }
  return found;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names = names_of([](const Report&) { return true; });
  names.insert(names.begin(), "all");
  names.emplace_back("node_op");
  return names;
}

std::string describe_reports() {
  std::string text = "| report | a row is | in the order of |\n| --- | --- | --- |\n";
  for (const Report& one : kReports) text += fmt::format("| `{}` | {} | {} |\n", one.name, one.a_row_per, one.order);
  return text;
}

}  // namespace dlkprof::report
