// The verdict and the facts of the screen.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "advise/stalls.h"
#include "base/text.h"
#include "model/aggregate/provenance.h"
#include "model/names.h"
#include "report/launches/launch_text.h"
#include "report/screen/screen_parts.h"

namespace dlkprof::report {
namespace {

using advise::Overview;
using advise::Verdict;
using advise::Verdicts;

constexpr double kMostlyPercent = 50, kWorthSaying = 25;
// Ours: kernels of several streams overlap somewhat.
constexpr double kAhead = 1.2;

// What a verdict says of the GPU time that it is of, in the order of Verdict.
constexpr std::array kBoundWords{"",
                                 "in kernels that the GPU waits for",
                                 "in grids too small for the GPU",
                                 "bound by compute",
                                 "bound by memory",
                                 "bound by latency: neither compute nor memory reaches 60 % of its peak"};

// Of a run whose GPU works most of the time, or of launches alone.
std::string busy_sentence(const Overview& overview, const char* whole) {
  const std::string busy =
      overview.has_times ? fmt::format("The GPU works {:.0f} % of {}; ", 100 - overview.idle_percent, whole) : "";
  const char* of_time = overview.has_times ? "of its time" : "of the GPU time seen";
  if (overview.most && overview.most_percent >= kWorthSaying) {
    return fmt::format("{}{:.0f} % {} is {}.", busy, overview.most_percent, of_time, model::name_in(kBoundWords, *overview.most));
  }
  const advise::OverviewRow& top = overview.rows.front();
  if (!top.stall.empty()) {
    const advise::StallReason* reason = advise::find_stall_reason(top.stall);
    return fmt::format("{}{} longest {}, {}, waits most for {} ({:.0f} % of PC samples). {}", busy, busy.empty() ? "The" : "its",
                       overview.has_ops ? "layer" : "kernel", shorten_middle(top.name, 40), top.stall, top.stall_percent,
                       reason == nullptr ? "" : reason->meaning);
  }
  if (overview.known_percent >= kMostlyPercent)
    return busy + (busy.empty() ? "No" : "no") + " single limit bounds most of its time.";
  return busy + (busy.empty() ? "What" : "what") + " bounds its kernels was not measured.";
}

// Of a run whose GPU waits for launches: what it does while it works comes first where it works for longer.
std::string waiting_sentence(const Overview& overview, const char* whole) {
  constexpr const char* kWaits = "mostly because it waits for the CPU to launch";
  if (overview.idle_percent >= kMostlyPercent)
    return fmt::format("The GPU idles {:.0f} % of {}, {}: the program is launch-bound.", overview.idle_percent, whole, kWaits);
  const bool is_known = overview.most && *overview.most != Verdict::launch_bound && overview.most_percent >= kWorthSaying;
  const std::string bound =
      is_known ? fmt::format(", {:.0f} % of that {}", overview.most_percent, model::name_in(kBoundWords, *overview.most)) : "";
  return fmt::format("The GPU works {:.0f} % of {}{}; it idles {:.0f} %, {}.", 100 - overview.idle_percent, whole, bound,
                     overview.idle_percent, kWaits);
}

std::string program_text(const model::Timeline& timeline) {
  if (timeline.processes.empty()) return "not known";
  std::string text;
  for (const std::string& argument : timeline.processes.front().record.arguments) text += (text.empty() ? "" : " ") + argument;
  if (text.empty()) text = "of unknown arguments";
  if (timeline.processes.size() > 1) text += fmt::format(", {} processes", timeline.processes.size());
  std::set<std::string> gpus;
  for (const model::Device& device : timeline.devices) gpus.insert(device.record.name);
  text += gpus.empty() ? "; no GPU" : "; ";
  if (timeline.devices.size() > 1) text += fmt::format("{} x ", timeline.devices.size());
  return text + fmt::format("{}", fmt::join(gpus, ", "));
}

const char* source_text(model::RangeSource source) {
  return source == model::RangeSource::found ? ", steady" : source == model::RangeSource::asked ? ", as asked" : "";
}

// What a verdict is about: "each decode iteration".
std::string whole_of(const ScreenInputs& inputs) {
  const model::Aggregate& made = inputs.profile.aggregate;
  if (made.kind != model::kNone) {
    const std::string& name = inputs.profile.fold.kinds[made.kind].name;
    return name.starts_with("kind ") ? "each iteration of " + name : fmt::format("each {} iteration", name);
  }
  if (inputs.overview.undisturbed) return "each iteration without the profiler";
  return !inputs.overview.has_iterations ? "the run" : made.is_mixed() ? "all iterations" : "each iteration";
}

// A line for each kind: "decode: median 24.1 ms; mean 24.3 ms +- 1.20 ms, n = 247; 97.2 % of the GPU time".
ScreenLines kind_lines(const ScreenInputs& inputs) {
  constexpr std::size_t kKinds = 4;
  const model::Aggregate& made = inputs.profile.aggregate;
  double gpu_ns = 0;
  for (const model::KindRow& row : made.kinds) gpu_ns += static_cast<double>(row.gpu_ns);
  ScreenLines lines = labelled("Iteration",
                               fmt::format("{} kinds in iterations {} to {}{}; --iter_kind shows one", made.kinds.size(),
                                           made.first_iteration, made.last_iteration, source_text(made.range_source)),
                               inputs.page, 1);
  for (std::size_t i = 0; i < std::min(kKinds, made.kinds.size()); ++i) {
    const model::KindRow& row = made.kinds[i];
    const std::string spread = row.iterations > 1 ? " +- " + short_quantity(row.deviation_ns, "ns") : "";
    const std::string share =
        gpu_ns > 0 ? fmt::format("; {:.1f} % of the GPU time", 100 * static_cast<double>(row.gpu_ns) / gpu_ns) : "";
    add_lines(lines, labelled("  " + inputs.profile.fold.kinds[row.kind].name,
                              fmt::format("median {}; mean {}{}, n = {}{}", short_quantity(row.median_ns, "ns"),
                                          short_quantity(row.mean_ns, "ns"), spread, with_separators(row.iterations), share),
                              inputs.page, 2));
  }
  return lines;
}

// "median 4.18 ms; mean 4.20 ms +- 30.1 us, n = 18 (2 to 19, steady)"
std::string iteration_text(const model::Profile& profile) {
  const model::Summary& summary = profile.aggregate.summary;
  const std::string kind = profile.aggregate.kind == model::kNone ? "" : ", " + profile.fold.kinds[profile.aggregate.kind].name;
  const char* which = source_text(profile.aggregate.range_source);
  std::string spread;
  if (summary.aggregated_iterations > 1) spread = " +- " + short_quantity(summary.iteration_deviation_ns, "ns");
  return fmt::format("median {}; mean {}{}, n = {} ({} to {}{}{})", short_quantity(summary.median_iteration_ns, "ns"),
                     short_quantity(summary.mean_iteration_ns, "ns"), spread, with_separators(summary.aggregated_iterations),
                     summary.start_iteration, summary.stop_iteration, which, kind);
}

// "median 29.6 ms without the profiler, n = 412, of 31.2 s that the program ran on by itself"
std::string undisturbed_text(const model::Profile& profile) {
  std::int64_t alone_ns = 0;
  bool cupti_left = true;
  for (const model::Detachment& detachment : profile.timeline.detachments) {
    alone_ns = std::max(alone_ns, detachment.alone_ns);
    cupti_left = cupti_left && detachment.cupti_left;
  }
  if (profile.timeline.detachments.empty()) return "";
  const std::string rest = alone_ns > 0 ? short_quantity(static_cast<double>(alone_ns), "ns") : "the rest";
  const auto& found = profile.aggregate.summary.undisturbed;
  std::string text = found ? fmt::format("median {}; mean {} +- {}, n = {}, in {} without the profiler",
                                         short_quantity(found->median_ns, "ns"), short_quantity(found->mean_ns, "ns"),
                                         short_quantity(found->deviation_ns, "ns"), with_separators(found->n), rest)
                     : !profile.fold.kinds.empty()
                         ? fmt::format("{} ran without the profiler, in iterations of kinds that nothing told apart", rest)
                         : fmt::format("{} ran without the profiler, and no marker told its iterations apart", rest);
  if (!cupti_left) text += " (CUPTI stayed loaded)";
  return text;
}

// Warm-up, and what follows the loop: "iterations 0 to 2 (607 ms) and 20 (20.1 ms)".
std::string left_out_iterations(const model::Profile& profile) {
  const model::Summary& summary = profile.aggregate.summary;
  std::string text;
  const auto add = [&text](std::uint64_t first, const model::LeftOut& part) {
    if (part.iterations == 0) return;
    const std::uint64_t last = first + part.iterations - 1;
    text += (text.empty() ? "" : " and ") + (first == last ? std::to_string(first) : fmt::format("{} to {}", first, last)) +
            fmt::format(" ({})", short_quantity(static_cast<double>(part.wall_ns), "ns"));
  };
  add(0, summary.before);
  add(summary.stop_iteration + 1, summary.after);
  return text.empty() ? "" : "iterations " + text;
}

// Ours: of the GPU time, below which copies and sets are not worth words.
constexpr double kCopiesPercent = 1;

std::string gpu_text(const ScreenInputs& inputs) {
  const Overview& overview = inputs.overview;
  std::string text;
  if (overview.has_times) {
    if (overview.verdict != Verdicts::lost)
      text = fmt::format("busy {:.1f} %{}, ", 100 - overview.idle_percent, overview.undisturbed ? " (undisturbed)" : "");
    text += short_quantity(overview.gpu_ns_per_iteration, "ns");
    text += overview.per_iteration ? " of GPU time per iteration" : " of GPU time";
  } else {
    text = short_quantity(static_cast<double>(overview.gpu_ns), "ns") + " of GPU time seen";
  }
  std::string parts;
  const auto add = [&parts](double percent, const char* where) {
    parts += fmt::format("{} {:.1f} % {}in {}", parts.empty() ? ";" : ",", percent, parts.empty() ? "of it " : "", where);
  };
  if (overview.tensor_percent >= 0.05)
    add(overview.tensor_percent, overview.tensor_by_name ? "tensor-core kernels (by their names)" : "tensor-core kernels");
  if (overview.copies_percent >= kCopiesPercent) add(overview.copies_percent, "copies and sets");
  return text + parts;
}

std::uint8_t replay_modes_of(const model::Timeline& timeline) {
  std::uint8_t modes = 0;
  for (const auto& [config, launches] : timeline.measured_launches) {
    for (const model::MeasuredLaunch& launch : launches) {
      modes = static_cast<std::uint8_t>(modes | 1U << static_cast<unsigned>(launch.replay_mode));
    }
  }
  return modes;
}

bool launched_kernels(const model::Timeline& timeline) {
  return std::any_of(timeline.counts.begin(), timeline.counts.end(), [](const auto& one) { return one.launches > 0; });
}

bool launched_graphs_alone(const model::Timeline& timeline) {
  const auto has_graphs = [](const auto& one) { return one.graph_launches > 0; };
  return !launched_kernels(timeline) && std::any_of(timeline.processes.begin(), timeline.processes.end(), has_graphs);
}

std::string measured_text(const ScreenInputs& inputs) {
  const Overview& overview = inputs.overview;
  std::string by;
  const auto add = [&by](const std::string& what) { by += (by.empty() ? "" : "; ") + what; };
  if (overview.launches_measured > 0) {
    const std::string modes = model::replay_modes_text(replay_modes_of(inputs.profile.timeline));
    add(fmt::format("{} by {}", counted(overview.launches_measured, "launch", "launches"), modes.empty() ? "counters" : modes));
  }
  if (overview.sampled) add("GPU sampled while it ran");
  if (overview.instructions_counted) add("counts of instructions");
  if (overview.pc_sampled) add("PC samples");
  if (by.empty() && wants_counters(inputs.profile.timeline)) {
    return launched_graphs_alone(inputs.profile.timeline)
               ? "no launch, as all were of CUDA graphs: --replay-mode sample has counters of their kernels"
               : "no launch, though counters were asked for";
  }
  if (by.empty()) return "no counters; launches were only timed";
  if (overview.launches_measured == 0 && !overview.sampled) return by + "; no counters";
  if (overview.measured_percent < 0.05) return by + (overview.has_iterations ? ", but no kernel of these iterations" : "");
  return fmt::format("{:.1f} % of the kernels' GPU time: {}", overview.measured_percent, by);
}

// A program that never waits for the GPU counts iterations as fast as it can enqueue them.
std::string condition_text(const ScreenInputs& inputs) {
  const Overview& overview = inputs.overview;
  const double iteration_ns = inputs.profile.aggregate.summary.mean_iteration_ns;
  if (overview.verdict == Verdicts::launch_bound && static_cast<double>(overview.clock_ns) > iteration_ns / 10)
    return fmt::format("times of GPU and CPU may be {} apart, so what waits for launches is not certain",
                       short_quantity(static_cast<double>(overview.clock_ns), "ns"));
  if (overview.verdict == Verdicts::launch_bound && !overview.undisturbed)
    return "recording makes launches slower, so that some of the waiting may be the profiler's";
  const auto gpus = static_cast<double>(std::max<std::size_t>(1, inputs.profile.timeline.devices.size()));
  if (overview.per_iteration && overview.gpu_ns_per_iteration > kAhead * gpus * iteration_ns)
    return "the CPU runs ahead of the GPU: iterations are timed as they are launched, and the GPU takes longer for one";
  return "";
}

}  // namespace

bool wants_counters(const model::Timeline& timeline) {
  return std::any_of(timeline.processes.begin(), timeline.processes.end(),
                     [](const model::Process& process) { return model::wanted_of(process.record).measures; });
}

std::string verdict_sentence(const ScreenInputs& inputs) {
  const Overview& overview = inputs.overview;
  const std::string whole_text = whole_of(inputs);
  const char* whole = whole_text.c_str();
  switch (overview.verdict) {
    case Verdicts::nothing:
      break;
    case Verdicts::lost:
      return "How busy the GPU is cannot be said: GPU times of the last launches are lost, as the capture was not closed.";
    case Verdicts::launch_bound:
      return waiting_sentence(overview, whole);
    case Verdicts::idle:
      return fmt::format(
          "The GPU idles {:.0f} % of {}, and waiting for launches is only {:.0f} % of that: look at data loading, copies and "
          "synchronizing calls.",
          overview.idle_percent, whole, overview.waited_percent);
    case Verdicts::idle_unsure:
      return fmt::format(
          "The GPU idles {:.0f} % of {}; whether it waits for launches is not certain, as times of GPU and CPU may be {} apart.",
          overview.idle_percent, whole, short_quantity(static_cast<double>(overview.clock_ns), "ns"));
    case Verdicts::busy:
      return busy_sentence(overview, whole);
  }
  if (launched_graphs_alone(inputs.profile.timeline)) {
    return "The program launched CUDA graphs alone, of which no kernel was timed or measured: there is no GPU time to show.";
  }
  return launched_kernels(inputs.profile.timeline)
             ? "Launches were counted, but none was timed or measured: there is no GPU time to show."
             : "The program launched no kernel: there is nothing to show.";
}

ScreenLines fact_lines(const ScreenInputs& inputs) {
  const model::Profile& profile = inputs.profile;
  const Overview& overview = inputs.overview;
  ScreenLines lines = labelled("Program", shorten_middle(program_text(profile.timeline), inputs.page.width - 12), inputs.page, 1);
  if (overview.has_iterations) {
    if (profile.aggregate.is_mixed()) {
      add_lines(lines, kind_lines(inputs));
    } else {
      add_lines(lines, labelled("Iteration", iteration_text(profile), inputs.page, 2));
    }
    add_lines(lines, labelled("Undisturbed", undisturbed_text(profile), inputs.page, 2));
    add_lines(lines, labelled("Left out", left_out_iterations(profile), inputs.page, 1));
  } else if (overview.has_times) {
    add_lines(lines,
              labelled("Iteration", "none found: figures are of the whole run (--key_node names what ends one)", inputs.page, 1));
  }
  if (overview.gpu_ns > 0) add_lines(lines, labelled("GPU", gpu_text(inputs), inputs.page, 2));
  add_lines(lines, labelled("Measured", measured_text(inputs), inputs.page, 2));
  add_lines(lines, labelled("Condition", condition_text(inputs), inputs.page, 2));
  return lines;
}

}  // namespace dlkprof::report
