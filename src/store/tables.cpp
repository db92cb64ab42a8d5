#include <vector>

#include "store/aggregation_rows.h"
#include "store/measured_rows.h"
#include "store/timeline_rows.h"

namespace dlkprof::store {
namespace {

template <typename... Rows>
std::vector<Table> tables_of() {
  return {table_of<Rows>()...};
}

}  // namespace

std::span<const Table> timeline_tables() {
  using namespace model;
  static const std::vector<Table> tables =
      tables_of<About, Process, Argument, Device, ProcessDevice, Thread, String, Range, Call, Kernel, Config, LoadedFunction,
                GraphNode, ActivityRow, Detachment, LoneStep, capture::Fact, capture::NoticeRecord, Metric, MetricSet,
                MeasuredLaunchRow, MeasuredRow, MeasuredFigureRow, LaunchCountRow, SampledRow, SampleBin, PcReason, PcFile,
                PcCode, PcFunction, PcInstruction, PcStall, PcTotals, store::SassMetric, SassCount>();
  return tables;
}

std::span<const Table> aggregation_tables() {
  using namespace model;
  static const std::vector<Table> tables =
      tables_of<Profile, model::Group, Op, IterationKind, Iteration, Placement, OpRow, OpKernel, KernelRow, OpTypeRow, GroupRow,
                KindRow, Summary, CounterRow, DiagnosedFinding, DiagnosedVerdict, StallRow, DiagnosedOccupancy>();
  return tables;
}

}  // namespace dlkprof::store
