// The formats that runs are exported in: one table that help, docs and the verb read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "export/job_run.h"
#include "export/run.h"
#include "report/format/rows.h"

namespace dlkprof::exports {

// What a format had to leave out, for the user.
struct Exported {
  std::size_t untimed = 0;  // works that have no time on the GPU
};

struct Format {
  const char* name;
  const char* extension;  // of the file, after the base name
  const char* what;       // for help: what reads it
  const char* open_with;  // what to do with the file
  Exported (*write)(const std::vector<Run>& runs, const report::Sink& sink) = nullptr;
  // In its place, for what is not written front to back: into an empty file.
  Exported (*write_file)(const Run& run, const std::filesystem::path& file) = nullptr;
  // Of the database of a job; null where it takes events, which that does not have.
  void (*write_job)(const JobRun& job, const report::Sink& sink) = nullptr;
  bool takes_several = false;   // runs
  bool needs_ops = false;       // shows nothing else, and their sums
  bool needs_counters = false;  // of single launches, likewise
};

[[nodiscard]] std::span<const Format> formats();
// Null where there is none of that name.
[[nodiscard]] const Format* find_format(const std::string& name);
[[nodiscard]] std::vector<std::string> format_names();

// A file each.
Exported write_perfetto(const std::vector<Run>& runs, const report::Sink& sink);
Exported write_kineto(const std::vector<Run>& runs, const report::Sink& sink);
Exported write_speedscope(const std::vector<Run>& runs, const report::Sink& sink);
Exported write_ncu_csv(const std::vector<Run>& runs, const report::Sink& sink);
Exported write_nsys_sqlite(const Run& run, const std::filesystem::path& file);
Exported write_folded(const std::vector<Run>& runs, const report::Sink& sink);
void write_perfetto_job(const JobRun& job, const report::Sink& sink);
void write_speedscope_job(const JobRun& job, const report::Sink& sink);
void write_folded_job(const JobRun& job, const report::Sink& sink);

// `write(sink)` writes to a sink that packs it as gzip does (RFC 1952) for `packed`. Throws Error.
void pack_gzip(const report::Sink& packed, const std::function<void(const report::Sink&)>& write);

}  // namespace dlkprof::exports
