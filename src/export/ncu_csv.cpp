// What `ncu --csv --page raw` prints, in base units: a row per measured launch, a column per metric, and a row of units. For
// scripts that read it.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "export/formats.h"
#include "model/aggregate/measured_launches.h"
#include "model/aggregate/occupancy.h"
#include "report/launches/launch_text.h"

namespace dlkprof::exports {
namespace {

// In quotes, as ncu has every cell.
void add_quoted(std::string& line, std::string_view text) {
  line += line.empty() ? "\"" : ",\"";
  for (const char c : valid_utf8(text)) line += c == '"' ? std::string("\"\"") : std::string(1, c);
  line += '"';
}

// Metrics of a launch that are no counters, under ncu's names.
using LaunchMetrics = std::map<std::string, double>;

LaunchMetrics launch_metrics(const model::Timeline& timeline, const model::Config& config) {
  const capture::LaunchKey& key = config.key;
  const double blocks = double{1} * key.grid.x * key.grid.y * key.grid.z;
  const double threads = double{1} * key.block.x * key.block.y * key.block.z;
  LaunchMetrics metrics{{"launch__grid_size", blocks},
                        {"launch__block_size", threads},
                        {"launch__thread_count", blocks * threads},
                        {"launch__shared_mem_per_block_dynamic", key.dynamic_shared_bytes}};
  const capture::DeviceRecord* device = model::device_of(timeline, config);
  const capture::FunctionRecord* function = model::function_of(timeline, config);
  if (function != nullptr) {
    metrics["launch__registers_per_thread"] = function->registers_per_thread;
    metrics["launch__shared_mem_per_block_static"] = function->static_shared_bytes;
  }
  if (device == nullptr || function == nullptr) return metrics;
  try {
    const model::Occupancy occupancy = model::theoretical_occupancy(*device, *function, key);
    metrics["launch__occupancy_limit_blocks"] = occupancy.limit_blocks;
    metrics["launch__occupancy_limit_registers"] = occupancy.limit_registers;
    metrics["launch__occupancy_limit_shared_mem"] = occupancy.limit_shared;
    metrics["launch__occupancy_limit_warps"] = occupancy.limit_warps;
    metrics["launch__shared_mem_per_block_allocated"] = static_cast<double>(occupancy.shared_per_block);
    metrics["launch__waves_per_multiprocessor"] = occupancy.waves;
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a GPU that the toolkit does not know: left out
  }
  return metrics;
}

const char* launch_unit(std::string_view metric) {
  if (metric.find("shared_mem_per_block") != std::string_view::npos) return "byte/block";
  if (metric == "launch__registers_per_thread") return "register/thread";
  if (metric == "launch__thread_count") return "thread";
  return metric.find("occupancy_limit") != std::string_view::npos ? "block" : "";
}

class NcuWriter {
 public:
  NcuWriter(const Run& run, report::Buffer& out)
      : run_(run), timeline_(run.timeline()), launches_(model::launches_of(timeline_)), out_(out) {
    for (const model::Launch& launch : launches_) {
      for (const auto& [name, value] : model::values_of(timeline_, launch)) counters_.insert(name.text());
      for (const auto& [name, value] : launch_metrics(timeline_, timeline_.configs[launch.config])) launch_columns_.insert(name);
    }
  }

  void write() {
    std::string head, units;
    for (const char* column : {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
                               "Grid Size", "Device", "CC"}) {
      add_quoted(head, column);
      add_quoted(units, "");
    }
    for (const std::string& metric : launch_columns_) {
      add_quoted(head, metric);
      add_quoted(units, launch_unit(metric));
    }
    for (const std::string& metric : counters_) {
      add_quoted(head, metric);
      add_quoted(units, run_.unit_of ? run_.unit_of(metric) : "");
    }
    out_.text += head + "\n" + units + "\n";
    for (const model::Launch& launch : launches_) {
      out_.text += row(launch) + "\n";
      out_.drain();
    }
  }

 private:
  [[nodiscard]] std::string row(const model::Launch& launch) const {
    const model::Config& config = timeline_.configs[launch.config];
    const capture::ProcessRecord& process = timeline_.processes[config.process].record;
    const capture::DeviceRecord* device = model::device_of(timeline_, config);
    const std::string program = process.arguments.empty() ? "" : process.arguments.front();
    std::string line;
    add_quoted(line, std::to_string(launch.how->launch_index));
    add_quoted(line, std::to_string(process.pid));
    add_quoted(line, program.substr(program.rfind('/') + 1));
    add_quoted(line, process.host);
    add_quoted(line, report::demangled_name(timeline_, config));
    add_quoted(line, std::to_string(launch.how->context));
    add_quoted(line, std::to_string(launch.how->stream));
    add_quoted(line, report::dim_text(config.key.block));
    add_quoted(line, report::dim_text(config.key.grid));
    add_quoted(line, std::to_string(config.key.device));
    add_quoted(line, device == nullptr ? "" : fmt::format("{}.{}", device->cc_major, device->cc_minor));
    const LaunchMetrics own = launch_metrics(timeline_, config);
    for (const std::string& metric : launch_columns_) {
      const auto value = own.find(metric);
      add_quoted(line, value == own.end() ? "" : fmt::format("{}", value->second));
    }
    const model::Values values = model::values_of(timeline_, launch);
    for (const std::string& metric : counters_) {
      const auto value = values.find(metric);
      add_quoted(line, value == values.end() || !std::isfinite(value->second) ? "" : fmt::format("{}", value->second));
    }
    return line;
  }

  const Run& run_;
  const model::Timeline& timeline_;
  std::vector<model::Launch> launches_;
  report::Buffer& out_;
  std::set<std::string> counters_, launch_columns_;
};

}  // namespace

Exported write_ncu_csv(const std::vector<Run>& runs, const report::Sink& sink) {
  report::Buffer out(sink);
  NcuWriter(runs.front(), out).write();
  out.finish();
  return {};
}

}  // namespace dlkprof::exports
