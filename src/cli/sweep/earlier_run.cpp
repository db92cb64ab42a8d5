#include "cli/sweep/earlier_run.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "capture/reader.h"
#include "cli/captures.h"
#include "cli/profile/profile_command.h"
#include "store/database.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// What was asked of the library, but for what may differ where the same is asked again.
capture::ProfileOptions lasting(capture::ProfileOptions options) {
  options.application_pid = 0;
  options.output_directory.clear();
  options.quiet = false;
  return options;
}

bool is_same(const capture::ProcessRecord& process, const capture::ProfileOptions& asked) {
  return !asked.fingerprint.empty() && lasting(capture::options_from_json(process.options_json)) == lasting(asked);
}

// By itself: what was told to end may have ended with 0, but early.
bool ended_well(const model::Timeline& timeline) {
  bool succeeded = false, told_to_end = false;
  for (const capture::Fact& fact : timeline.facts) {
    if (fact.source != kFactSource) continue;
    succeeded |= fact.name == kExitCodeFact && fact.value == "0";
    told_to_end |= fact.name == kToldToEndFact;
  }
  return succeeded && !told_to_end;
}

EarlierRun judge_database(const fs::path& path, const ProfileCommand& command) {
  const model::Profile run = store::read_stored_run(path);
  const auto& processes = run.timeline.processes;
  const auto asked = options_for(command);
  const bool same =
      !processes.empty() && std::all_of(processes.begin(), processes.end(),
                                        [&asked](const model::Process& process) { return is_same(process.record, asked); });
  if (!same) return EarlierRun::other;
  const auto files = output_files(command.outputs);
  const bool all_there = std::all_of(files.begin(), files.end(), is_there);
  if (!all_there || !ended_well(run.timeline)) return EarlierRun::incomplete;
  const Folding& folding = command.folding;
  return run.options == folding.fold && run.range == folding.range ? EarlierRun::complete : EarlierRun::refolded;
}

// Of captures without a database, as a run leaves them that was killed itself.
EarlierRun judge_captures(const std::vector<fs::path>& captures, const ProfileCommand& command) {
  const auto asked = options_for(command);
  const bool same = std::all_of(captures.begin(), captures.end(), [&asked](const fs::path& path) {
    const auto record = capture::Reader::open(path).next();
    const auto* process = record ? std::get_if<capture::ProcessRecord>(&*record) : nullptr;
    return process != nullptr && is_same(*process, asked);
  });
  return same ? EarlierRun::incomplete : EarlierRun::other;
}

}  // namespace

EarlierRun earlier_run_of(const ProfileCommand& command) {
  const auto database = database_file(command.outputs);
  const auto captures = captures_in(command.outputs.directory, command.outputs.base_name);
  try {
    if (is_there(database)) return judge_database(database, command);
    return captures.empty() ? EarlierRun::none : judge_captures(captures, command);
  } catch (const Error&) {  // damaged, or not ours
    return EarlierRun::other;
  }
}

void fold_again(const ProfileCommand& command) {
  const auto database = database_file(command.outputs);
  const Folding& folding = command.folding;
  const model::Profile profile = analyse_somehow(store::read_timeline(database), folding);
  (void)store::add_aggregation(database, profile, advise::diagnosis_of(profile));
}

}  // namespace dlkprof::cli
