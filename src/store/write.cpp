#include "store/write.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/new_file.h"
#include "base/text.h"
#include "dlkprof/version.h"
#include "store/aggregation.h"
#include "store/database.h"
#include "store/insert.h"
#include "store/measured.h"
#include "store/schema.h"
#include "store/timeline_rows.h"

namespace dlkprof::store {
namespace {

using model::Timeline;

void insert_processes(const Connection& connection, const Timeline& timeline) {
  insert_all(connection, timeline.processes);
  insert_all(connection, timeline.devices);
  insert_all(connection, timeline.threads);
  Insert<Argument> arguments(connection);
  Insert<ProcessDevice> devices(connection);
  for (std::uint32_t process = 0; process < timeline.processes.size(); ++process) {
    std::uint64_t position = 0;
    for (const std::string& value : timeline.processes[process].record.arguments) arguments.add({process, position++, value});
    for (const auto& [ordinal, device] : timeline.processes[process].devices) devices.add({process, ordinal, device});
  }
}

void insert_events(const Connection& connection, const Timeline& timeline) {
  insert_texts<String>(connection, timeline.strings);
  insert_many(connection, timeline.ranges);
  insert_many(connection, timeline.calls);
  insert_all(connection, timeline.kernels);
  insert_all(connection, timeline.configs);
  insert_all(connection, timeline.functions);
  insert_all(connection, timeline.graph_nodes);
  InsertMany<ActivityRow> activities(connection);
  const model::TensorCoreTable tensor_cores(timeline);
  for (const model::Activity& activity : timeline.activities) activities.add({activity, tensor_cores.of(activity)});
  activities.finish();
  insert_all(connection, timeline.detachments);
  insert_all(connection, timeline.lone_steps);
  insert_all(connection, timeline.facts);
  insert_all(connection, timeline.notices);
  Insert<About>(connection).add({DLKPROF_VERSION, unix_now_ns(), timeline.first_ns, timeline.last_ns});
}

void insert_pc_samples(const Connection& connection, const model::PcSamples& samples) {
  insert_texts<PcReason>(connection, samples.reasons);
  insert_texts<PcFile>(connection, samples.files);
  insert_all(connection, samples.codes);
  insert_all(connection, samples.functions);
  insert_many(connection, samples.instructions);
  insert_many(connection, samples.stalls);
  insert_all(connection, samples.totals);
  insert_texts<SassMetric>(connection, samples.sass_metrics);
  insert_many(connection, samples.counts);
}

void fill(NewFile& file, const model::Profile& profile, const model::Diagnosis& diagnosis) {
  Connection connection(file.path(), Access::build);
  connection.now_and_then([&file] { file.release_cache(); });
  Transaction transaction(connection);
  create_schema(connection);
  insert_run(connection, profile, diagnosis);
  transaction.commit();
}

}  // namespace

void insert_run(const Connection& connection, const model::Profile& profile, const model::Diagnosis& diagnosis) {
  insert_processes(connection, profile.timeline);
  insert_events(connection, profile.timeline);
  insert_measured(connection, profile.timeline);
  insert_pc_samples(connection, profile.timeline.pc_samples);
  insert_aggregation(connection, 1, profile, diagnosis);
}

void write_database(const std::filesystem::path& path, const model::Profile& profile, const model::Diagnosis& diagnosis) {
  NewFile file(path);
  try {
    fill(file, profile, diagnosis);
  } catch (const Error& error) {  // it names the temporary file
    throw Error("cannot write the database " + printable(path.native()), error.detail(), error.remedy());
  }
  file.flush_to_target(true);
}

}  // namespace dlkprof::store
