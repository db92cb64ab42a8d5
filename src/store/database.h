// The database of a run: one SQLite file with everything that captures hold but raw counters, and what folding made of it.
// Its views (docs/reference/schema.md) are the stable interface for others' queries. The only door to SQLite.
#pragma once

#include <filesystem>
#include <string>

#include "model/diagnosis.h"
#include "model/profile.h"

namespace dlkprof::store {

inline constexpr int kSchemaVersion = 10;

// Writes `path` whole, with 0600, under a temporary name beside it and then moved there: never half a file, never through a
// link. Replaces what is there. `diagnosis`: what advise found of the profile. Throws Error (folder not writable, disk full).
void write_database(const std::filesystem::path& path, const model::Profile& profile, const model::Diagnosis& diagnosis = {});

// Adds what was folded and aggregated to a database of ours, as the one that views show; the earlier ones stay, by their ids.
// Where the one that they show is the same, made by this version for the same folding, nothing is added. Throws Error.
struct AddedAggregation {
  int id = 0;
  bool is_new = true;
};
AddedAggregation add_aggregation(const std::filesystem::path& path, const model::Profile& profile,
                                 const model::Diagnosis& diagnosis = {});

// Throws Error: no such file, not a database of ours, damaged, or written by a newer version (named). Its content is hostile
// input: whatever it says, the timeline keeps what timeline.h promises.
[[nodiscard]] model::Timeline read_timeline(const std::filesystem::path& path);

// The same without what only folding looks at, which is most of it: no ranges, and calls that are of none and have no names.
[[nodiscard]] model::Timeline read_timeline_without_ranges(const std::filesystem::path& path);

// A run as its newest aggregation has it, for those who need not fold again: its timeline without ranges; of the fold no groups,
// and an instance for each op, of which only the op is known; of the aggregate the range of iterations alone. Throws Error as
// read_timeline() does.
[[nodiscard]] model::Profile read_stored_run(const std::filesystem::path& path);

// Gives the calls that launch, of a timeline that was read without ranges from this database, their names back.
void name_launch_calls(const std::filesystem::path& path, model::Timeline& timeline);

// Whether the file begins as an SQLite database does; false where it cannot be read.
[[nodiscard]] bool is_database(const std::filesystem::path& path) noexcept;

// The schema in words, for `dlkprof help schema`: tables and views with their columns, units and meanings.
[[nodiscard]] std::string describe_schema();
// docs/reference/schema.md: views with the names of their columns.
[[nodiscard]] std::string list_schema();

}  // namespace dlkprof::store
