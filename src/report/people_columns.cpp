// The columns of each report that a terminal shows, and what stands above them.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"
#include "report/registry.h"

namespace dlkprof::report {
namespace {

constexpr std::array kHeadings{PeopleColumn{"Op Name", "op"},
                               PeopleColumn{"Direction", "direction"},
                               PeopleColumn{"No. Calls", "calls"},
                               PeopleColumn{"Total GPU Time (ns)", "GPU time"},
                               PeopleColumn{"Avg. GPU Time (ns)", "mean"},
                               PeopleColumn{"Using TC", "tensor\ncores"},
                               PeopleColumn{"Achieved Occupancy (%)", "occu-\npancy"},
                               PeopleColumn{"TC Source", "known\nby"},
                               PeopleColumn{"Memory Throughput (%)", "memory\nof peak"},
                               PeopleColumn{"SM Throughput (%)", "compute\nof peak"},
                               PeopleColumn{"Top Stall", "waits for"},
                               PeopleColumn{"Total CPU Time (ns)", "CPU time"},
                               PeopleColumn{"Op ID", "op"},
                               PeopleColumn{"Iteration", "itera-\ntion"},
                               PeopleColumn{"Kernel Name", "kernel"},
                               PeopleColumn{"GPU Time (ns)", "GPU time"},
                               PeopleColumn{"Uses TC", "tensor\ncores"},
                               PeopleColumn{"API Call Time (ns)", "call"},
                               PeopleColumn{"Calls Timed", "calls"},
                               PeopleColumn{"Total GPU Time", "GPU time"},
                               PeopleColumn{"TC Utilization (%)", "time\nin them"},
                               PeopleColumn{"Tensor Pipe (%)", "pipe\nbusy"},
                               PeopleColumn{"TC Precision", "precision"},
                               PeopleColumn{"Why Not TC", "why not"},
                               PeopleColumn{"No. Nodes", "ops"},
                               PeopleColumn{"Name", "group"},
                               PeopleColumn{"No. Calls Aggregated", "calls"},
                               PeopleColumn{"Total GPU Idle Time (ns)", "GPU idle"},
                               PeopleColumn{"No. Node Ops Using TC", "ops with\ntensor cores"},
                               PeopleColumn{"Kind", "kind"},
                               PeopleColumn{"Iterations", "itera-\ntions"},
                               PeopleColumn{"Median Time (ns)", "median"},
                               PeopleColumn{"Standard Deviation (ns)", "+-"},
                               PeopleColumn{"No. Layers", "layers"},
                               PeopleColumn{"GPU Time Per Iteration (ns)", "GPU time/\niteration"},
                               PeopleColumn{"GPU Time (%)", "share"},
                               PeopleColumn{"Verdict", "verdict"},
                               PeopleColumn{"Slowest Layer", "slowest"},
                               PeopleColumn{"Slowest Layer GPU Time (ns)", "its time"},
                               PeopleColumn{"No. Ops", "ops"},
                               PeopleColumn{"No. Launches", "launches"},
                               PeopleColumn{"Measured GPU Time (ns)", "measured"},
                               PeopleColumn{"Savings Bound (%)", "gain"},
                               PeopleColumn{"SMs Filled (%)", "SMs\nfilled"},
                               PeopleColumn{"Reason", "reason"},
                               PeopleColumn{"Grid Size", "grid"},
                               PeopleColumn{"Block Size", "block"},
                               PeopleColumn{"Theoretical Occupancy (%)", "theo-\nretical"},
                               PeopleColumn{"Limiter", "limited by"},
                               PeopleColumn{"Waves Per SM", "waves"},
                               PeopleColumn{"Next Step", "next step"},
                               PeopleColumn{"Why Below Theoretical", "why below theoretical"},
                               PeopleColumn{"Stall Reason", "waits for"},
                               PeopleColumn{"Share (%)", "share"},
                               PeopleColumn{"Cycles Per Issue", "cycles\nper issue"},
                               PeopleColumn{"PC Samples", "PC\nsamples"},
                               PeopleColumn{"What Usually Helps", "what usually helps"},
                               PeopleColumn{"DRAM Bytes", "DRAM"},
                               PeopleColumn{"DRAM Rate (byte/s)", "DRAM\nrate"},
                               PeopleColumn{"DRAM Of Peak (%)", "DRAM\nof peak"},
                               PeopleColumn{"L2 Hit Rate (%)", "L2\nhits"},
                               PeopleColumn{"L1 Hit Rate (%)", "L1\nhits"},
                               PeopleColumn{"L2 Of Peak (%)", "L2\nof peak"},
                               PeopleColumn{"L1 Of Peak (%)", "L1\nof peak"},
                               PeopleColumn{"Sectors Per Load Request", "sectors\nper load"},
                               PeopleColumn{"Precision", "precision"},
                               PeopleColumn{"Arithmetic Intensity (op/byte)", "op per\nbyte"},
                               PeopleColumn{"Performance (op/s)", "reached"},
                               PeopleColumn{"Of Attainable (%)", "of\nattainable"},
                               PeopleColumn{"Attainable (op/s)", "attainable"},
                               PeopleColumn{"Launches", "launches"},
                               PeopleColumn{"Matched", "matched"},
                               PeopleColumn{"Measured", "measured"},
                               PeopleColumn{"Timed GPU Time (%)", "of GPU\ntime"},
                               PeopleColumn{"Incomplete Because", "incomplete because"},
                               PeopleColumn{"Metric", "metric"},
                               PeopleColumn{"Mean", "mean"},
                               PeopleColumn{"Samples", "n"},
                               PeopleColumn{"Standard Deviation", "standard\ndeviation"},
                               PeopleColumn{"Collected By", "collected by"},
                               PeopleColumn{"Cache Control", "caches"},
                               PeopleColumn{"Source File", "file"},
                               PeopleColumn{"Source Line", "line"},
                               PeopleColumn{"SASS Offset", "SASS\noffset"},
                               PeopleColumn{"SASS", "SASS"},
                               PeopleColumn{"Stalled Samples", "stalled"},
                               PeopleColumn{"Line Share Of Kernel (%)", "line's\nshare"},
                               PeopleColumn{"Loop", "loop"},
                               PeopleColumn{"Loop Lines", "loop\nlines"},
                               PeopleColumn{"Loop Share Of Kernel (%)", "loop's\nshare"},
                               PeopleColumn{"Share Of Kernel (%)", "of the\nkernel"},
                               PeopleColumn{"Top Stall Reason", "waits for"},
                               PeopleColumn{"Top Stall Share (%)", "wait's\nshare"},
                               PeopleColumn{"Instructions Executed", "executed"},
                               PeopleColumn{"Avg. Threads Executed", "threads\nactive"},
                               PeopleColumn{"Divergent Branches", "branches\ndivergent"},
                               PeopleColumn{"L2 Theoretical Sectors Global Excessive", "excess\nsectors"},
                               PeopleColumn{"L1 Wavefronts Shared Excessive", "excess\nwavefronts"},
                               PeopleColumn{"Value", "value"},
                               PeopleColumn{"95 % Low", "95 % low"},
                               PeopleColumn{"95 % High", "95 % high"},
                               PeopleColumn{"# Samples", "samples"},
                               PeopleColumn{"GPU", "GPU"},
                               PeopleColumn{"Time in Iteration (ns)", "at"},
                               PeopleColumn{"Length (ns)", "for"},
                               PeopleColumn{"Curve", "curve of"},
                               PeopleColumn{"Unit", "unit"},
                               PeopleColumn{"Replay Mode", "replay"},
                               PeopleColumn{"Passes", "passes"},
                               PeopleColumn{"theoretical_occupancy_pct", "theoretical\noccupancy"},
                               PeopleColumn{"gpu__time_duration.sum", "duration"},
                               PeopleColumn{"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved\noccupancy"},
                               PeopleColumn{"ID", "launch"},
                               PeopleColumn{"Problem", "problem"},
                               PeopleColumn{"Time At Stake (%)", "estimated\ngain"},
                               PeopleColumn{"Recommendation", "what to do"},
                               PeopleColumn{"Where", "where"}};

// Where a report has a heading of its own.
struct OwnHeading {
  std::string_view report;
  PeopleColumn column;
};
constexpr std::array kOwnHeadings{OwnHeading{"detail", {"Op ID", "op ID"}},
                                  OwnHeading{"op_type", {"Op Name", "op type"}},
                                  OwnHeading{"group_node", {"Avg. GPU Time (ns)", "per\niteration"}},
                                  OwnHeading{"grouped", {"Name", "name"}},
                                  OwnHeading{"findings", {"Evidence", "figure"}},
                                  OwnHeading{"findings", {"Value", "value"}},
                                  OwnHeading{"findings", {"Unit", "unit"}},
                                  OwnHeading{"findings", {"n", "n"}},
                                  OwnHeading{"findings", {"Query", "query"}},
                                  OwnHeading{"findings", {"Low", "low"}},
                                  OwnHeading{"findings", {"High", "high"}},
                                  OwnHeading{"findings", {"Rule", "rule"}},
                                  OwnHeading{"bottleneck", {"Kernel Name", "kernel\n(none: the whole op)"}},
                                  OwnHeading{"occupancy", {"Achieved Occupancy (%)", "achieved"}},
                                  OwnHeading{"stall", {"Kernel Name", "kernel\n(none: the whole op)"}},
                                  OwnHeading{"memory", {"Kernel Name", "kernel\n(none: the whole op)"}},
                                  OwnHeading{"roofline", {"Kernel Name", "kernel\n(none: the whole op)"}},
                                  OwnHeading{"sampling", {"Kernel Name", "kernel\n(none: the whole op)"}}};

// Columns by name, with commas between.
struct ReportColumns {
  std::string_view report;
  const char* names;
};
constexpr std::array kColumns{
    ReportColumns{"detail",
                  "Op Name,Direction,No. Calls,Total GPU Time (ns),Avg. GPU Time (ns),Using TC,"
                  "Achieved Occupancy (%),TC Source,Memory Throughput (%),SM Throughput (%),Top Stall,"
                  "Total CPU Time (ns),Op ID"},
    ReportColumns{"iteration",
                  "Iteration,Op Name,Direction,Kernel Name,GPU Time (ns),Uses TC,Achieved Occupancy (%),"
                  "API Call Time (ns)"},
    ReportColumns{"iterations",
                  "Kind,Iterations,Median Time (ns),Standard Deviation (ns),Total GPU Time (ns),GPU Time (%),Verdict"},
    ReportColumns{"kernel",
                  "Kernel Name,Op Name,Direction,Calls Timed,Total GPU Time (ns),Avg. GPU Time (ns),Uses TC,"
                  "Achieved Occupancy (%),Memory Throughput (%),SM Throughput (%),TC Source,Top Stall"},
    ReportColumns{"tensor",
                  "Op Name,Direction,Total GPU Time,Uses TC,TC Utilization (%),TC Source,Tensor Pipe (%),"
                  "TC Precision,Why Not TC"},
    ReportColumns{"op_type",
                  "Op Name,No. Nodes,No. Calls,Total GPU Time (ns),Avg. GPU Time (ns),Using TC,"
                  "Achieved Occupancy (%),Total CPU Time (ns)"},
    ReportColumns{"group_node",
                  "Name,No. Calls Aggregated,Total GPU Time (ns),Avg. GPU Time (ns),Total GPU Idle Time (ns),"
                  "Total CPU Time (ns),No. Node Ops Using TC"},
    ReportColumns{"grouped",
                  "Name,Direction,No. Layers,GPU Time Per Iteration (ns),GPU Time (%),Verdict,Using TC,"
                  "TC Source,Achieved Occupancy (%),Slowest Layer,Slowest Layer GPU Time (ns),No. Ops,"
                  "No. Launches,Measured GPU Time (ns)"},
    ReportColumns{"bottleneck",
                  "Op Name,Direction,Kernel Name,Total GPU Time (ns),Verdict,Savings Bound (%),SM Throughput (%),"
                  "Memory Throughput (%),SMs Filled (%),Reason"},
    ReportColumns{"occupancy",
                  "Kernel Name,Grid Size,Block Size,Total GPU Time (ns),Theoretical Occupancy (%),"
                  "Achieved Occupancy (%),Limiter,Waves Per SM,Next Step,Why Below Theoretical"},
    ReportColumns{"stall",
                  "Op Name,Direction,Kernel Name,Total GPU Time (ns),Stall Reason,Share (%),Cycles Per Issue,PC Samples,"
                  "What Usually Helps"},
    ReportColumns{"memory",
                  "Op Name,Direction,Kernel Name,Total GPU Time (ns),DRAM Bytes,DRAM Rate (byte/s),DRAM Of Peak (%),"
                  "L2 Hit Rate (%),L1 Hit Rate (%),L2 Of Peak (%),L1 Of Peak (%),Sectors Per Load Request"},
    ReportColumns{"roofline",
                  "Op Name,Direction,Kernel Name,Total GPU Time (ns),Precision,Arithmetic Intensity (op/byte),"
                  "Performance (op/s),Of Attainable (%),Attainable (op/s)"},
    ReportColumns{"coverage", "Kernel Name,Grid Size,Launches,Matched,Measured,Timed GPU Time (%),Incomplete Because"},
    ReportColumns{"measured", "Kernel Name,Grid Size,Metric,Mean,Samples,Standard Deviation,Collected By,Cache Control"},
    ReportColumns{
        "source",
        "Kernel Name,Source File,Source Line,Share Of Kernel (%),Top Stall Reason,Instructions Executed,"
        "L2 Theoretical Sectors Global Excessive,L1 Wavefronts Shared Excessive,SASS,Line Share Of Kernel (%),PC Samples,"
        "Loop Lines,Loop Share Of Kernel (%),SASS Offset,Top Stall Share (%),Stalled Samples,Loop,Avg. Threads Executed,"
        "Divergent Branches"},
    ReportColumns{"sampling", "Op Name,Direction,Kernel Name,Total GPU Time (ns),Metric,Value,95 % Low,95 % High,# Samples"},
    ReportColumns{"utilization", "GPU,Metric,Iteration,Time in Iteration (ns),Length (ns),Value,# Samples"},
    ReportColumns{"occupancy_curves", "Kernel Name,Block Size,Curve,Value,Unit,Theoretical Occupancy (%),Grid Size"},
    ReportColumns{"metrics",
                  "Kernel Name,Grid Size,Block Size,Replay Mode,Passes,theoretical_occupancy_pct,"
                  "gpu__time_duration.sum,sm__warps_active.avg.pct_of_peak_sustained_active,ID"},
    ReportColumns{"expert_systems", "Problem,Time At Stake (%),Recommendation,Where"},
    ReportColumns{"findings", "Rule,Evidence,Value,Unit,n,Query,Low,High"}};

PeopleColumn column_of(std::string_view report, const std::string& name) {
  for (const OwnHeading& own : kOwnHeadings) {
    if (own.report == report && own.column.column == name) return own.column;
  }
  for (const PeopleColumn& column : kHeadings) {
    if (column.column == name) return column;
  }
  throw std::logic_error("no heading for the column " + name);
}

}  // namespace

std::vector<PeopleColumn> people_columns(std::string_view report) {
  std::vector<PeopleColumn> columns;
  for (const ReportColumns& one : kColumns) {
    if (one.report != report) continue;
    for (const std::string& name : split(one.names, ',')) columns.push_back(column_of(report, name));
  }
  return columns;
}

}  // namespace dlkprof::report
