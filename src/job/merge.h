// Merging jobs' databases: the union of their ranks, each as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "job/database.h"

namespace dlkprof::job {

struct Merged {
  std::size_t ranks = 0;
  std::uint32_t world_size = 0;          // the most that a rank says; 0: none does
  std::size_t unnumbered = 0;            // ranks that do not say which they are: the order gave them their numbers
  std::vector<std::uint32_t> missing;    // of it, the first ones
  std::uint64_t missing_count = 0;       // all of them
  std::vector<std::uint32_t> cut;        // ranks whose captures were cut short, or had damaged records
  std::vector<LeftOutRank> left_out;     // processes of a rank that another process is taken for
  std::vector<std::string> given_twice;  // files with a rank that another file has, too: the same process
  std::vector<std::string> failures;     // files that were left out, and why
};

// Tells how far it is: ranks written, of so many.
using Progress = std::function<void(std::size_t, std::size_t)>;

// Writes one database of all. A file that cannot be read is left out, and told. The result depends on the set of ranks alone.
// Where several processes say that they are the same rank, the one whose capture is whole and has most launches is taken. Throws
// Error where `path` cannot be written, or no file can be read.
Merged merge_jobs(const std::vector<std::filesystem::path>& files, const std::filesystem::path& path,
                  const Progress& progress = nullptr);

// What is to be told of it, a line each, without a newline.
[[nodiscard]] std::vector<std::string> warnings_of(const Merged& merged);

}  // namespace dlkprof::job
