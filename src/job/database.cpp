#include "job/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/new_file.h"
#include "base/text.h"
#include "job/schema.h"
#include "store/database.h"

namespace dlkprof::job {
namespace {

namespace fs = std::filesystem;
using store::Access;
using store::CellType;
using store::Statement;

constexpr std::int64_t kLongestText = std::int64_t{1} << 16U;  // our names are shorter, and so are histograms

std::string create_job_table(const JobTable& table) {
  return fmt::format("CREATE TABLE {} ({}, PRIMARY KEY ({})) WITHOUT ROWID", table.name, table.columns, table.keys);
}

std::string in_order(const char* table, const char* key) { return fmt::format("SELECT * FROM {} ORDER BY {}", table, key); }

std::string of_rank(const char* table, const char* also = "") {
  return fmt::format("SELECT * FROM {} WHERE rank = ?1 {} ORDER BY 1, 2, 3", table, also);
}

constexpr const char* kOpsInRange = "AND op BETWEEN ?2 AND ?3";

RankIdentity identity_at(const Statement& row, int known, int rank, int host) {
  RankIdentity identity;
  if (row.integer(known) != 0) identity.number = static_cast<std::uint32_t>(row.integer(rank));
  identity.host = row.text(host);
  identity.pid = static_cast<std::uint32_t>(row.integer(host + 1));
  identity.start_unix_ns = row.integer(host + 2);
  return identity;
}

Distribution distribution_at(const Statement& row, std::uint64_t n, int first) {
  Distribution values;
  values.n = n;
  values.sum = wide_of(row.text(first));
  values.squares = wide_of(row.text(first + 1));
  values.least = static_cast<std::uint64_t>(row.integer(first + 2));
  values.most = static_cast<std::uint64_t>(row.integer(first + 3));
  read_histogram(row.text(first + 4), values);
  return values;
}

fs::path existing(const fs::path& path) {
  if (store::is_database(path)) return path;
  throw Error("cannot open the job database " + printable(path.native()), "not an SQLite database, or not readable",
              "Give a database that dlkprof merge wrote.");
}

}  // namespace

// www.sqlite.org/fileformat.html, 1.3: the application id lies at byte 68, big-endian.
bool is_job_database(const fs::path& path) noexcept {
  if (!store::is_database(path)) return false;
  try {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 72> head{};
    if (!file.read(head.data(), head.size())) return false;
    std::uint32_t id = 0;
    for (std::size_t i = 68; i < head.size(); ++i) id = id << 8U | static_cast<unsigned char>(head[i]);
    return id == kJobApplicationId;
  } catch (const std::exception&) {
    return false;
  }
}

JobDatabase::JobDatabase(const fs::path& path)
    : path_(path),
      connection_((existing(path)), Access::read),
      ops_((check(), connection_.prepare("SELECT op FROM rank_op WHERE rank = ?1 ORDER BY op"))),
      times_(connection_.prepare(of_rank("rank_op", kOpsInRange))),
      counters_(connection_.prepare(of_rank("rank_counter", kOpsInRange))),
      iterations_(connection_.prepare(of_rank("rank_iteration"))),
      collectives_(connection_.prepare(of_rank("rank_collective", "AND (communicator, sequence) > (?2, ?3)") + " LIMIT ?4")) {
  connection_.limit_length(kLongestText);
  try {
    read_names();
    read_heads();
  } catch (const Error& error) {
    fail(error.detail().empty() ? error.what() : error.detail());
  }
}

void JobDatabase::fail(const std::string& detail) const {
  throw Error("cannot read the job database " + printable(path_.native()), detail,
              "It was changed or is damaged: merge the ranks' captures or databases again.");
}

void JobDatabase::check() const {
  const auto wrong = [this](const std::string& detail, const char* remedy) {
    throw Error("cannot open the job database " + printable(path_.native()), detail, remedy);
  };
  if (const std::int64_t id = connection_.number("PRAGMA application_id"); id != kJobApplicationId)
    wrong(fmt::format("an SQLite database of another program (application id {:#x})", id), "Give one that dlkprof merge wrote.");
  if (const std::int64_t version = connection_.number("PRAGMA user_version"); version != kJobSchemaVersion)
    wrong(fmt::format("its schema has version {}; this dlkprof reads version {}", version, kJobSchemaVersion),
          "Merge the ranks' captures or databases again, with one version of dlkprof.");
  std::map<std::string, std::string, std::less<>> found;
  Statement schema = connection_.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'");
  while (schema.step()) found.emplace(schema.text(0), schema.text(1));
  for (const JobTable& table : kJobTables) {
    const auto entry = found.find(table.name);
    if (entry == found.end() || entry->second != create_job_table(table))
      fail(fmt::format("table {} is not as written", table.name));
  }
}

std::uint32_t JobDatabase::index(const Statement& row, int column, std::size_t count) const {
  const std::int64_t value = row.integer(column);
  if (value < 0 || static_cast<std::uint64_t>(value) >= count) fail("a row refers to what is not there");
  return static_cast<std::uint32_t>(value);
}

// The rows of a table that numbers names from 0.
template <typename Make>
auto JobDatabase::names_of(const char* table, Make make) const {
  std::vector<decltype(make(std::declval<const Statement&>()))> names;
  for (Statement row = connection_.prepare(in_order(table, "id")); row.step();) {
    if (row.integer(0) != static_cast<std::int64_t>(names.size())) fail("names are not numbered from 0");
    names.push_back(make(row));
  }
  return names;
}

void JobDatabase::read_names() {
  const auto name = [](const Statement& row) { return std::string(row.text(1)); };
  names_.ops = names_of("op", [&name](const Statement& row) {
    return OpName{name(row), std::string(row.text(2)), std::string(row.text(3))};
  });
  names_.metrics = names_of("metric", name);
  names_.kinds = names_of("kind", name);
}

void JobDatabase::read_heads() {
  for (Statement row = connection_.prepare(in_order("rank", "rank")); row.step();) {
    Rank rank;
    const std::uint32_t number = index(row, 0, kNone);
    rank.identity = identity_at(row, 1, 0, 2);
    rank.world_size = index(row, 5, kNone);
    rank.gpu = row.text(6);
    rank.pci_bus_id = row.text(7);
    rank.clock_hz = row.real(8);
    rank.launches = static_cast<std::uint64_t>(row.integer(9));
    rank.damaged = static_cast<std::uint64_t>(row.integer(10));
    rank.ended = row.integer(11) != 0;
    heads_.emplace(number, std::move(rank));
  }
  for (Statement row = connection_.prepare(in_order("left_out", "known, rank, host, pid, start_unix_ns")); row.step();)
    left_out_.push_back({identity_at(row, 0, 1, 2)});
}

// Of a statement of one rank.
template <typename Make>
auto JobDatabase::rows_of(Statement& row, std::uint32_t number, Make make) {
  std::vector<decltype(make(row))> all;
  row.bind_parameter(1, number);
  while (row.step()) all.push_back(make(row));
  row.reset();
  return all;
}

std::vector<std::uint32_t> JobDatabase::read_ops(std::uint32_t number) {
  return rows_of(ops_, number, [this](const Statement& row) { return index(row, 0, names_.ops.size()); });
}

std::vector<OpTimes> JobDatabase::read_times(std::uint32_t number, const OpRange& range) {
  times_.bind_parameter(2, range.first);
  times_.bind_parameter(3, range.last);
  try {
    return rows_of(times_, number, [this](const Statement& row) {
      const auto n = static_cast<std::uint64_t>(row.integer(4));
      return OpTimes{.op = index(row, 1, names_.ops.size()),
                     .segment = index(row, 2, kNone),
                     .launches = static_cast<std::uint64_t>(row.integer(3)),
                     .gpu_ns = distribution_at(row, n, 5),
                     .wait_ns = distribution_at(row, n, 10)};
    });
  } catch (const std::invalid_argument& wrong) {
    fail(wrong.what());
  }
}

std::vector<OpCounter> JobDatabase::read_counters(std::uint32_t number, const OpRange& range) {
  counters_.bind_parameter(2, range.first);
  counters_.bind_parameter(3, range.last);
  return rows_of(counters_, number, [this](const Statement& row) {
    return OpCounter{index(row, 1, names_.ops.size()), index(row, 2, names_.metrics.size()), row.real(3),
                     static_cast<std::uint64_t>(row.integer(4))};
  });
}

std::vector<RankIteration> JobDatabase::read_iterations(std::uint32_t number) {
  return rows_of(iterations_, number, [this](const Statement& row) {
    return RankIteration{index(row, 1, kNone), row.integer(2), row.integer(3), row.integer(4),
                         row.integer(5),       row.integer(6), row.integer(7), row.integer(8)};
  });
}

std::vector<RankCollective> JobDatabase::read_collectives(std::uint32_t number, const std::optional<RankCollective>& after,
                                                          std::size_t most) {
  collectives_.bind_parameter(2, after ? std::int64_t{after->communicator} : -1);
  collectives_.bind_parameter(3, after ? std::int64_t{after->sequence} : -1);
  collectives_.bind_parameter(4, most);
  return rows_of(collectives_, number, [this](const Statement& row) {
    const std::uint32_t late = row.type(8) == CellType::null ? kNone : index(row, 8, names_.ops.size());
    const std::uint32_t bytes = row.type(10) == CellType::null ? kNone : index(row, 10, kNone);
    return RankCollective{index(row, 1, kNone),
                          index(row, 2, kNone),
                          index(row, 3, kNone),
                          index(row, 4, kNone),
                          index(row, 5, names_.kinds.size()),
                          row.integer(6),
                          row.integer(7),
                          late,
                          row.integer(9),
                          bytes,
                          row.integer(11)};
  });
}

Rank JobDatabase::read(std::uint32_t number) {
  Rank rank = heads_.at(number);
  rank.times = read_times(number);
  rank.counters = read_counters(number);
  rank.iterations = read_iterations(number);
  rank.collectives = read_collectives(number);
  return rank;
}

namespace {

store::Connection new_job(const fs::path& path) {
  store::Connection connection(path, Access::build);
  connection.run(fmt::format("PRAGMA application_id={}", kJobApplicationId));
  connection.run(fmt::format("PRAGMA user_version={}", kJobSchemaVersion));
  for (const JobTable& table : kJobTables) connection.run(create_job_table(table));
  return connection;
}

Statement insert_row(const store::Connection& connection, std::string_view table, int columns) {
  std::string values;
  for (int i = 1; i <= columns; ++i) values += fmt::format("{}?{}", i == 1 ? "" : ",", i);
  return connection.prepare(fmt::format("INSERT INTO {} VALUES ({})", table, values));
}

void insert_names(const store::Connection& connection, std::string_view table, const std::vector<std::string>& names) {
  Statement row = insert_row(connection, table, 2);
  for (std::size_t i = 0; i < names.size(); ++i) row.run(i, names[i]);
}

}  // namespace

JobWriter::JobWriter(const fs::path& path, const Names& names, const std::vector<LeftOutRank>& left_out)
    : connection_(new_job(path)),
      transaction_(connection_),
      rank_(insert_row(connection_, "rank", 12)),
      times_(insert_row(connection_, "rank_op", 15)),
      counter_(insert_row(connection_, "rank_counter", 5)),
      iteration_(insert_row(connection_, "rank_iteration", 9)),
      collective_(insert_row(connection_, "rank_collective", 12)) {
  Statement op = insert_row(connection_, "op", 4);
  for (std::size_t i = 0; i < names.ops.size(); ++i) op.run(i, names.ops[i].name, names.ops[i].direction, names.ops[i].type);
  insert_names(connection_, "metric", names.metrics);
  insert_names(connection_, "kind", names.kinds);
  Statement left = insert_row(connection_, "left_out", 5);
  for (const LeftOutRank& one : left_out) {
    const RankIdentity& who = one.identity;
    left.run(who.number.has_value(), who.number.value_or(0), who.host, who.pid, who.start_unix_ns);
  }
}

void JobWriter::add_head(std::uint32_t number, const Rank& rank) {
  const RankIdentity& who = rank.identity;
  rank_.run(number, who.number.has_value(), who.host, who.pid, who.start_unix_ns, rank.world_size, rank.gpu, rank.pci_bus_id,
            rank.clock_hz, rank.launches, rank.damaged, rank.ended);
}

void JobWriter::add(std::uint32_t number, const Rank& rank) {
  add_head(number, rank);
  for (const OpTimes& one : rank.times) {
    const Distribution &gpu = one.gpu_ns, &wait = one.wait_ns;
    times_.run(number, one.op, one.segment, one.launches, gpu.n, wide_text(gpu.sum), wide_text(gpu.squares), gpu.least, gpu.most,
               histogram_text(gpu), wide_text(wait.sum), wide_text(wait.squares), wait.least, wait.most, histogram_text(wait));
  }
  for (const OpCounter& one : rank.counters) counter_.run(number, one.op, one.metric, one.value, one.samples);
  for (const RankIteration& one : rank.iterations) {
    iteration_.run(number, one.iteration, one.start_ns, one.length_ns, one.gpu_ns, one.collective_ns, one.exposed_ns,
                   one.input_ns, one.idle_ns);
  }
  for (const RankCollective& one : rank.collectives) {
    const auto known = [](std::uint32_t value) { return value == kNone ? std::nullopt : std::optional(value); };
    collective_.run(number, one.communicator, one.sequence, one.iteration, one.position, one.kind, one.start_ns, one.end_ns,
                    known(one.late_op), one.late_ns, known(one.bytes), one.exposed_ns);
  }
}

void JobWriter::finish() { transaction_.commit(); }

std::map<RankIdentity, std::uint32_t> numbers_of(const std::vector<RankIdentity>& identities) {
  std::map<RankIdentity, std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (const RankIdentity& one : identities) {
    if (one.number) next = std::max(next, *one.number + 1);
    numbers.emplace(one, one.number.value_or(0));
  }
  for (auto& [identity, number] : numbers) {
    if (!identity.number) number = next++;
  }
  return numbers;
}

}  // namespace dlkprof::job
