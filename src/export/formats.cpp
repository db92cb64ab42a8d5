#include "export/formats.h"

#include <algorithm>
#include <array>

namespace dlkprof::exports {
namespace {

constexpr std::array kFormats{
    Format{.name = "perfetto",
           .extension = ".perfetto-trace",
           .what = "a trace for ui.perfetto.dev, counters on its GPU compute pages; several runs in one; of a job's database a "
                   "process per rank",
           .open_with = "open https://ui.perfetto.dev and drop the file there",
           .write = write_perfetto,
           .write_job = write_perfetto_job,
           .takes_several = true},
    Format{.name = "kineto",
           .extension = "_trace.json",
           .what = "JSON as PyTorch's profiler writes it, for HTA, chrome://tracing and ui.perfetto.dev",
           .open_with = "put the files of all ranks into one folder for HTA's TraceAnalysis",
           .write = write_kineto},
    Format{.name = "speedscope",
           .extension = ".speedscope.json",
           .what = "GPU time by op and kernel as stacks, for speedscope.app",
           .open_with = "open https://www.speedscope.app and drop the file there",
           .write = write_speedscope,
           .write_job = write_speedscope_job,
           .needs_ops = true},
    Format{.name = "folded",
           .extension = ".folded",
           .what = "the same as folded stacks, for flamegraph.pl and inferno",
           .open_with = "draw it with flamegraph.pl --countname=ns",
           .write = write_folded,
           .write_job = write_folded_job,
           .needs_ops = true},
    Format{.name = "ncu-csv",
           .extension = "_ncu.csv",
           .what = "measured launches as ncu --csv --page raw prints them, in base units",
           .open_with = "one row per measured launch, after a row of units",
           .write = write_ncu_csv,
           .needs_counters = true},
    Format{.name = "nsys-sqlite",
           .extension = "_nsys.sqlite",
           .what = "the timeline as nsys export --type sqlite writes it",
           .open_with = "nsys stats reads it",
           .write_file = write_nsys_sqlite}};

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(const std::string& name) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(), [&name](const Format& one) { return name == one.name; });
  return found == kFormats.end() ? nullptr : found;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& one : kFormats) names.emplace_back(one.name);
  return names;
}

}  // namespace dlkprof::exports
