#include "model/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/text.h"
#include "model/timeline/key_counts.h"
#include "model/timeline/raw_counters.h"

namespace dlkprof::model {
namespace {

using capture::Severity;

constexpr const char* kCutShort = "The process ended without closing the capture";

// Folds records into a Run, one at a time in the order of the file. Records come from a file that anybody may have
// written: what does not fit together is left out and counted, never trusted.
class Folder {
 public:
  Folder(const std::filesystem::path& path, const LoadOptions& options)
      : options_(options), evaluator_(options.cupti_path, options.metrics) {
    run_.path = path;
  }

  void fold(capture::Record record) {
    std::visit([this](auto&& one) { add(std::forward<decltype(one)>(one)); }, std::move(record));
  }

  Run finish(const capture::ReadState& state) {
    run_.read_state = state;
    take_raw_values();
    std::stable_sort(run_.launches.begin(), run_.launches.end(),
                     [](const Launch& a, const Launch& b) { return a.record.index < b.record.index; });
    check_references();
    count_measured();
    sum_coverage();
    add_notices();
    return std::move(run_);
  }

 private:
  void add(capture::ProcessRecord&& record) {
    if (std::exchange(has_process_, true)) return complain("process records besides the first");
    run_.process = std::move(record);
  }
  void add(capture::DeviceRecord&& record) {
    const std::uint32_t index = record.index;
    if (!run_.devices.try_emplace(index, std::move(record)).second) complain("descriptions of a device that has one");
  }
  void add(capture::FunctionRecord&& record) {
    const std::uint32_t id = record.id;
    if (run_.functions.contains(id)) return complain("descriptions of a function that has one");
    Function function;
    function.demangled = valid_utf8(demangle(record.mangled_name));
    function.base_name = function_base_name(function.demangled);
    function.record = std::move(record);
    run_.functions.emplace(id, std::move(function));
  }
  void add(capture::MetricSetRecord&& record) {
    const std::uint32_t id = record.id;
    if (!run_.metric_sets.try_emplace(id, std::move(record)).second) complain("descriptions of a metric set that has one");
  }
  void add(capture::LaunchRecord&& record) {
    if (!launch_indices_.insert(record.index).second) return complain("launches that the capture holds twice");
    Launch launch;
    launch.record = std::move(record);
    take_stored_values(launch);
    run_.launches.push_back(std::move(launch));
  }
  void add(capture::RawCountersRecord&& record) {
    if (!options_.evaluate_raw) return;
    const auto set = run_.metric_sets.find(record.metric_set);
    if (set == run_.metric_sets.end()) return complain("raw counters of an unknown metric set");
    const auto device = run_.devices.find(set->second.device);
    if (device == run_.devices.end()) return complain("raw counters of an unknown device");
    // Evaluated at once, so that no more than one image is held.
    if (auto values = evaluator_.evaluate(record, set->second, device->second.chip)) {
      raw_values_[record.launch_index] = std::move(*values);
    }
  }
  void add(capture::KeyStatsRecord&& record) {
    for (capture::KeyStats& stats : record.keys) run_.keys[stats.key] = stats;
    run_.coverage.graph_launches = record.graph_launches;
    run_.coverage.graph_gpu_ns = record.graph_timed_gpu_ns;
    run_.coverage.timing_complete = record.timing_complete;
  }
  void add(capture::NoticeRecord&& record) {
    if (notices_seen_.emplace(record.what, record.detail).second) run_.notices.push_back(std::move(record));
  }
  void add(capture::EndRecord&& record) { run_.end = record; }
  // The timeline's (model/timeline/timeline.h).
  void add(capture::StringsRecord&& /*record*/) {}
  void add(capture::EventsRecord&& /*record*/) {}
  void add(capture::FactsRecord&& /*record*/) {}
  void add(capture::ClockRecord&& /*record*/) {}
  void add(capture::AbsenceRecord&& /*record*/) {}
  void add(capture::SamplesRecord&& /*record*/) {}
  void add(capture::PcNamesRecord&& /*record*/) {}
  // What was sampled where is the timeline's as well.
  void add(capture::PcSamplesRecord&& record) {
    PcTotals totals = run_.pc_totals.value_or(PcTotals{});
    if (!add_to(totals, record, !run_.pc_totals)) return complain("samples of PC sampling of an impossible period");
    run_.pc_totals = totals;
  }

  void take_stored_values(Launch& launch) {
    const auto set = run_.metric_sets.find(launch.record.metric_set);
    if (set == run_.metric_sets.end()) {
      if (!launch.record.values.empty()) complain("launches measured with an unknown metric set");
      return;
    }
    const std::vector<std::string>& names = set->second.metrics;
    if (launch.record.values.empty()) return;  // only its raw counters were kept
    if (launch.record.values.size() != names.size()) return complain("launches with more or fewer values than their metric set");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::isfinite(launch.record.values[i])) launch.values[names[i]] = launch.record.values[i];
    }
  }

  void take_raw_values() {
    for (Launch& launch : run_.launches) {
      const auto found = raw_values_.find(launch.record.index);
      if (found == raw_values_.end()) continue;
      for (auto& [metric, value] : found->second) launch.values[metric] = value;
      launch.from_raw = true;
      raw_values_.erase(found);
    }
    for (std::size_t i = 0; i < raw_values_.size(); ++i) complain("raw counters of an unknown launch");
  }

  void check_references() {
    for (const Launch& launch : run_.launches) {
      if (!run_.functions.contains(launch.record.key.function)) complain("launches of an unknown function");
      if (!run_.devices.contains(launch.record.key.device)) complain("launches on an unknown device");
    }
  }

  void count_measured() {
    std::map<capture::LaunchKey, std::uint64_t> measured;
    for (const Launch& launch : run_.launches) ++measured[launch.record.key];
    model::count_measured(run_.keys, measured);
  }

  void sum_coverage() {
    Coverage& coverage = run_.coverage;
    for (const auto& [key, stats] : run_.keys) {
      coverage.launches += stats.launches;
      coverage.matched += stats.matched;
      coverage.measured += stats.measured;
      coverage.skipped += stats.skipped;
      coverage.near_missed += stats.near_missed;
      coverage.timed += stats.timed;
      coverage.timed_gpu_ns += stats.timed_gpu_ns;
      if (stats.measured > 0) {
        coverage.covered += stats.launches;
        coverage.covered_gpu_ns += stats.timed_gpu_ns;
      }
      if (stats.matched == 0) coverage.unmatched_gpu_ns += stats.timed_gpu_ns;
      if (stats.near_missed > 0) coverage.near_missed_gpu_ns += stats.timed_gpu_ns;
    }
  }

  void add_notices() {
    const capture::ReadState& state = run_.read_state;
    if (!run_.end) {
      note(kCutShort, "killed, crashed, left through _exit, or still running", "What was measured until then is whole.");
    }
    if (state.cut) note("The capture ends in the middle of a record", "", "Everything before it was read.");
    if (state.damaged > 0) {
      note(fmt::format("{} damaged records of the capture were left out", state.damaged), "",
           "Copy the file again, or profile again.");
    }
    if (state.unknown > 0) {
      note(fmt::format("{} records of a kind that this version does not know were left out", state.unknown), "",
           "Read the capture with the version of dlkprof that wrote it.");
    }
    for (const auto& [what, count] : complaints_) {
      note("The capture contradicts itself", fmt::format("{} {} ignored or left empty", count, what), "");
    }
    run_.notices.insert(run_.notices.end(), evaluator_.notices().begin(), evaluator_.notices().end());
  }

  void complain(const std::string& what) { ++complaints_[what]; }
  void note(const std::string& what, const std::string& detail, const std::string& remedy) {
    run_.notices.push_back({Severity::warning, what, detail, remedy});
  }

  const LoadOptions& options_;
  RawEvaluator evaluator_;
  Run run_;
  bool has_process_ = false;
  std::set<std::uint64_t> launch_indices_;
  std::map<std::uint64_t, std::map<std::string, double>> raw_values_;  // by launch index
  std::set<std::pair<std::string, std::string>> notices_seen_;
  std::map<std::string, std::uint64_t> complaints_;  // what does not fit together, and how often
};

}  // namespace

Run load_run(const std::filesystem::path& path, const LoadOptions& options) {
  capture::Reader reader = capture::Reader::open(path);
  Folder folder(path, options);
  while (std::optional<capture::Record> record = reader.next()) folder.fold(std::move(*record));
  return folder.finish(reader.state());
}

}  // namespace dlkprof::model
