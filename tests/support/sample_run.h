// The sample capture (sample_capture.h) as a run, and sections that fit it, for the tests of reports.
#pragma once

#include <array>
#include <stdexcept>
#include <vector>

#include "cupti/catalogue.h"
#include "model/profile.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::test {

// Not folded: there are no events.
inline model::Profile load_records(const std::vector<capture::Record>& records) {
  const TemporaryDirectory folder;
  model::Profile profile;
  profile.timeline = model::load_timeline(std::array{write_capture(folder.path(), records)});
  return profile;
}

inline model::Profile sample_run() { return load_records(sample_records()); }

// Of the sample's launches the first alone.
inline std::vector<capture::Record> one_launch() {
  std::vector<capture::Record> records = sample_records();
  std::erase_if(records, [](const capture::Record& record) {
    const auto* launch = std::get_if<capture::LaunchRecord>(&record);
    return launch != nullptr && launch->index != 3;
  });
  return records;
}

// A record of the sample, to be changed before it is loaded.
template <typename Record>
Record& first(std::vector<capture::Record>& records) {
  for (capture::Record& record : records) {
    if (auto* found = std::get_if<Record>(&record)) return *found;
  }
  throw std::logic_error("no such record");
}

inline cupti::SectionRow row(const std::string& label, const std::string& unit, const std::string& metric) {
  cupti::SectionRow one;
  one.label = label;
  one.unit = unit;
  one.metrics = {metric};
  return one;
}
inline cupti::SectionRow computed_row(const std::string& label, const std::string& unit, const std::string& figure) {
  cupti::SectionRow one;
  one.label = label;
  one.unit = unit;
  one.computed = figure;
  return one;
}

inline cupti::Section section(const std::string& name, const std::string& title, std::vector<cupti::SectionRow> rows) {
  cupti::Section one;
  one.name = name;
  one.title = title;
  one.rows = std::move(rows);
  return one;
}

inline cupti::SectionRow stall_row(const std::string& label, const std::string& reason) {
  return row(label, "cycle", "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio");
}

inline std::vector<cupti::Section> sample_sections() {
  return {
      section("speed_of_light", "Speed Of Light",
              {row("Duration", "ns", "gpu__time_duration.sum"),
               row("Compute (SM) Throughput", "%", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
               row("SM Frequency", "hz", "gpc__cycles_elapsed.avg.per_second")}),
      section("memory", "Memory Workload",
              {row("Memory Throughput", "byte/s", "dram__bytes.sum.per_second"),
               row("DRAM Bytes Read", "byte", "dram__bytes_read.sum"), row("Never Measured", "byte", "dram__bytes_write.sum")}),
      section("occupancy", "Occupancy",
              {computed_row("Theoretical Occupancy", "%", "theoretical_occupancy_pct"),
               row("Achieved Occupancy", "%", "sm__warps_active.avg.pct_of_peak_sustained_active"),
               computed_row("Block Limit Registers", "block", "block_limit_registers"),
               computed_row("Occupancy Limiter", "", "occupancy_limiter")}),
      section("stall", "Warp State",
              {stall_row("Stall Long Scoreboard", "long_scoreboard"), stall_row("Stall Barrier", "barrier"),
               stall_row("Stall Wait", "wait"), stall_row("Stall Drain", "drain"), stall_row("Stall Misc", "misc")}),
      section("tensor", "Tensor", {row("Tensor (All)", "%", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active")})};
}

}  // namespace dlkprof::test
