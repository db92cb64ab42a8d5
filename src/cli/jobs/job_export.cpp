#include "cli/jobs/job_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "job/analysis.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::cli {
namespace {

using exports::RankTrace;
using exports::Stack;
using exports::TraceSlice;
using exports::TraceTrack;

// Names of slices and of what is said of them; those of ops and of collectives follow.
enum Word : std::uint32_t {
  kIterationWord,
  kCollectiveWord,
  kNumberWord,
  kGpuWord,
  kWaitedWord,
  kInputWord,
  kIdleWord,
  kBytesWord,
  kLastRankWord,
  kLateOpWord,
  kSequenceWord,
  kWordCount
};
constexpr std::array<const char*, kWordCount> kWordTexts{
    "iteration", "collective", "number",     "GPU (ns)", "waited for others (ns)", "idle at start (ns)", "idle later (ns)",
    "bytes",     "last rank",  "late by op", "sequence"};

// Reads the job as the formats ask for it.
class JobExporter {
 public:
  explicit JobExporter(const std::filesystem::path& file) : database_(file) {}

  [[nodiscard]] std::vector<std::string> strings() const {
    std::vector<std::string> all(kWordTexts.begin(), kWordTexts.end());
    for (const job::OpName& op : database_.names().ops) all.push_back(op.name);
    all.insert(all.end(), database_.names().kinds.begin(), database_.names().kinds.end());
    return all;
  }
  [[nodiscard]] std::int64_t start_ns() const {
    const auto& heads = database_.heads();
    return heads.empty() ? 0 : heads.begin()->second.identity.start_unix_ns;
  }
  [[nodiscard]] std::vector<Stack> stacks();
  void each_rank(const std::function<void(const RankTrace&)>& take);

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // role, communicator, sequence

  [[nodiscard]] RankTrace trace_of(const job::RankRow& rank);
  [[nodiscard]] TraceTrack iterations_of(const job::RankRow& rank);
  [[nodiscard]] std::vector<TraceTrack> collectives_of(const job::RankRow& rank);
  [[nodiscard]] TraceSlice slice_of(const job::RankRow& rank, const job::RankCollective& one) const;
  [[nodiscard]] static std::int64_t on_job_clock(const job::RankRow& rank, std::int64_t ns);
  [[nodiscard]] std::uint32_t op_string(std::uint32_t op) const { return kWordCount + op; }
  [[nodiscard]] std::uint32_t kind_string(std::uint32_t kind) const {
    return kWordCount + static_cast<std::uint32_t>(database_.names().ops.size()) + kind;
  }

  job::JobDatabase database_;
  job::JobAnalysis analysis_;
  std::map<Place, const job::CollectiveRow*> rows_;
};

std::vector<Stack> JobExporter::stacks() {
  std::vector<job::Wide> ops(database_.names().ops.size());
  std::vector<std::int64_t> kinds(database_.names().kinds.size());
  for (const auto& [number, head] : database_.heads()) {
    for (const job::OpTimes& one : database_.read_times(number)) ops[one.op] = job::add_up(ops[one.op], one.gpu_ns.sum);
    for (const job::RankCollective& one : database_.read_collectives(number))
      model::add_ns(kinds[one.kind], model::elapsed_ns(one.start_ns, one.end_ns));
  }
  std::vector<Stack> all;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    constexpr auto kMost = static_cast<job::Wide>(std::numeric_limits<std::int64_t>::max());
    const job::OpName& op = database_.names().ops[i];
    if (ops[i] > 0)
      all.push_back({exports::op_frames(op.name, op.type, op.direction), static_cast<std::int64_t>(std::min(ops[i], kMost))});
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] > 0) all.push_back({{"(collectives)", exports::frame_of(database_.names().kinds[i])}, kinds[i]});
  }
  return all;
}

void JobExporter::each_rank(const std::function<void(const RankTrace&)>& take) {
  analysis_ = job::analyse_job(database_);
  for (const job::CollectiveRow& row : analysis_.collectives) rows_[{row.role, row.communicator, row.sequence}] = &row;
  for (const job::RankRow& rank : analysis_.ranks) take(trace_of(rank));
}

// What the ends of all-reduces say of the rank's clock is taken off. Without them it is as it is.
std::int64_t JobExporter::on_job_clock(const job::RankRow& rank, std::int64_t ns) {
  if (!rank.clock_offset_ns || !rank.clock_drift_ppm) return ns;
  const double off = *rank.clock_offset_ns + *rank.clock_drift_ppm * 1e-6 * (static_cast<double>(ns) - rank.clock_middle_ns);
  constexpr double kMostOff = 1e15;  // 11 days: what is beyond is no clock
  return std::abs(off) < kMostOff ? model::elapsed_ns(std::llround(off), ns) : ns;
}

TraceTrack JobExporter::iterations_of(const job::RankRow& rank) {
  TraceTrack track{"Iterations", kIterationWord, {}};
  const auto count = [](std::int64_t ns) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns)); };
  for (const job::RankIteration& one : database_.read_iterations(rank.number)) {
    std::int64_t end = one.start_ns;
    model::add_ns(end, one.length_ns);
    const std::uint32_t place = one.iteration - rank.first_iteration;
    const float waited = place < rank.waited_in_ns.size() ? rank.waited_in_ns[place] : 0;
    track.slices.push_back({on_job_clock(rank, one.start_ns),
                            on_job_clock(rank, end),
                            kIterationWord,
                            {{kNumberWord, one.iteration},
                             {kGpuWord, count(one.gpu_ns)},
                             {kWaitedWord, count(std::llround(waited))},
                             {kInputWord, count(one.input_ns)},
                             {kIdleWord, count(one.idle_ns)}}});
  }
  return track;
}

TraceSlice JobExporter::slice_of(const job::RankRow& rank, const job::RankCollective& one) const {
  TraceSlice slice{on_job_clock(rank, one.start_ns), on_job_clock(rank, one.end_ns), kind_string(one.kind), {}};
  slice.args.push_back({kSequenceWord, one.sequence});
  if (one.bytes != job::kNone) slice.args.push_back({kBytesWord, one.bytes});
  const auto found = rows_.find({rank.role, one.communicator, one.sequence});
  if (found == rows_.end()) return slice;
  const job::CollectiveRow& row = *found->second;
  const double waited = static_cast<double>(model::elapsed_ns(one.start_ns, one.end_ns)) - row.shortest_ns;
  slice.args.push_back({kWaitedWord, static_cast<std::uint64_t>(std::max(0.0, waited))});
  slice.args.push_back({kLastRankWord, row.last_rank});
  if (row.op != job::kNone) slice.args.push_back({kLateOpWord, op_string(row.op), true});
  return slice;
}

// A track per communicator: its collectives run one after the other.
std::vector<TraceTrack> JobExporter::collectives_of(const job::RankRow& rank) {
  std::vector<TraceTrack> tracks;
  std::optional<std::uint32_t> communicator;
  for (const job::RankCollective& one : database_.read_collectives(rank.number)) {
    if (communicator != one.communicator)
      tracks.push_back({fmt::format("Collectives {}", one.communicator), kCollectiveWord, {}});
    communicator = one.communicator;
    tracks.back().slices.push_back(slice_of(rank, one));
  }
  return tracks;
}

RankTrace JobExporter::trace_of(const job::RankRow& rank) {
  const job::Rank& head = *rank.head;
  RankTrace trace{rank.number,
                  fmt::format("rank {}: {}{}{}{}", rank.number, head.identity.host, head.gpu.empty() ? "" : ", ", head.gpu,
                              rank.clock_error_ns ? fmt::format(", clock +- {:.0f} ns", *rank.clock_error_ns) : ""),
                  {}};
  trace.tracks.push_back(iterations_of(rank));
  for (TraceTrack& track : collectives_of(rank)) trace.tracks.push_back(std::move(track));
  return trace;
}

}  // namespace

exports::JobRun job_run_of(const std::filesystem::path& file, const std::string& label) {
  const auto exporter = std::make_shared<JobExporter>(file);
  return {label, exporter->start_ns(), exporter->strings(),
          [exporter](const std::function<void(const RankTrace&)>& take) { exporter->each_rank(take); },
          [exporter] { return exporter->stacks(); }};
}

}  // namespace dlkprof::cli
