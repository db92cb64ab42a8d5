// The database of a job: what is kept of each rank, in rows. A file is a function of its set of ranks alone: whoever merges them,
// in whatever order and by whatever steps, writes the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/names.h"
#include "job/rank.h"
#include "store/sqlite.h"

namespace dlkprof::job {

inline constexpr int kJobApplicationId = 0x444c4b4a;  // "DLKJ"
inline constexpr int kJobSchemaVersion = 1;

// Whether the file says of itself that it is one. False where it cannot be read.
[[nodiscard]] bool is_job_database(const std::filesystem::path& path) noexcept;

// A process that is not in the job, as another one of the same rank is.
struct LeftOutRank {
  RankIdentity identity;
  friend auto operator<=>(const LeftOutRank&, const LeftOutRank&) = default;
};

struct OpRange {
  std::uint32_t first = 0, last = kNone;  // inclusive
};

// Writes `path` whole, or not at all; replaces what is there. Throws Error.
void write_job(const std::filesystem::path& path, const std::vector<Rank>& ranks);

// One that somebody hands in: hostile input.
class JobDatabase {
 public:
  // Throws Error: no such file, none of ours, of another version, tables that are not as we write them, a row that cannot be.
  explicit JobDatabase(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // All ranks by their number in this file, without their rows.
  [[nodiscard]] const std::map<std::uint32_t, Rank>& heads() const { return heads_; }
  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] const std::vector<LeftOutRank>& left_out() const { return left_out_; }
  // A rank's rows; references are into names(), its own lists stay empty.
  [[nodiscard]] Rank read(std::uint32_t number);
  [[nodiscard]] std::vector<std::uint32_t> read_ops(std::uint32_t number);  // those that it has, rising
  [[nodiscard]] std::vector<OpTimes> read_times(std::uint32_t number, const OpRange& range = {});
  [[nodiscard]] std::vector<OpCounter> read_counters(std::uint32_t number, const OpRange& range = {});
  [[nodiscard]] std::vector<RankIteration> read_iterations(std::uint32_t number);
  // The first `most` of those that follow `after`, by communicator and sequence.
  [[nodiscard]] std::vector<RankCollective> read_collectives(std::uint32_t number,
                                                             const std::optional<RankCollective>& after = std::nullopt,
                                                             std::size_t most = std::numeric_limits<std::size_t>::max());

 private:
  void check() const;
  void read_heads();
  void read_names();
  [[noreturn]] void fail(const std::string& detail) const;
  [[nodiscard]] std::uint32_t index(const store::Statement& row, int column, std::size_t count) const;
  template <typename Make>
  [[nodiscard]] auto names_of(const char* table, Make make) const;
  template <typename Make>
  [[nodiscard]] static auto rows_of(store::Statement& row, std::uint32_t number, Make make);

  std::filesystem::path path_;
  store::Connection connection_;
  std::map<std::uint32_t, Rank> heads_;
  Names names_;
  std::vector<LeftOutRank> left_out_;
  store::Statement ops_, times_, counters_, iterations_, collectives_;
};

// Fills a new file in the one order that there is.
class JobWriter {
 public:
  // Throws Error.
  JobWriter(const std::filesystem::path& path, const Names& names, const std::vector<LeftOutRank>& left_out);
  // By rising number. References are into the names given; rows by op, and by op and metric.
  void add(std::uint32_t number, const Rank& rank);
  void finish();

 private:
  void add_head(std::uint32_t number, const Rank& rank);

  store::Connection connection_;
  store::Transaction transaction_;
  store::Statement rank_, times_, counter_, iteration_, collective_;
};

// The number of each rank in a job of these: that of its identity, where it has one; the others follow, by host and start.
[[nodiscard]] std::map<RankIdentity, std::uint32_t> numbers_of(const std::vector<RankIdentity>& identities);

}  // namespace dlkprof::job
