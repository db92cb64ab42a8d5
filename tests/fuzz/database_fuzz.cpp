// Databases that somebody hands in. By the first byte of the input: cells of a good one are set, and its rows deleted and
// doubled, by SQL (all that a file can say with our tables), or its bytes are overwritten. Whatever it then says, it is refused
// or read, and what was read can be folded, summed and shown.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "base/file.h"
#include "fuzz/input.h"
#include "fuzz/scratch.h"
#include "fuzz/sqlite_memory.h"
#include "report/format/csv.h"
#include "report/registry.h"
#include "store/database.h"
#include "store/rows.h"
#include "support/records_of_all_types.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using fuzz::Input;

// A good database of few rows in small pages.
std::filesystem::path make_database() noexcept {
  const std::filesystem::path capture = test::write_capture(fuzz::scratch_folder(), test::records_of_all_types());
  model::Profile profile;
  profile.timeline = model::load_timeline(std::vector{capture});
  profile.fold = model::fold(profile.timeline, {});
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {});
  std::filesystem::path path = fuzz::scratch_folder() / "run.sqlite";
  store::write_database(path, profile, advise::diagnosis_of(profile));
  store::Connection connection(path, store::Access::build);  // which may attach, as VACUUM does
  connection.run("PRAGMA page_size=512");
  connection.run("VACUUM");
  return path;
}

const std::filesystem::path& database_path() {
  static const std::filesystem::path path = make_database();
  return path;
}

std::vector<store::Table> all_tables() {
  std::vector<store::Table> all;
  for (const std::span<const store::Table> tables : {store::timeline_tables(), store::aggregation_tables()})
    all.insert(all.end(), tables.begin(), tables.end());
  return all;
}

void use(model::Profile profile, std::uint64_t luck) {
  const std::span<const report::Report> reports = report::reports();
  const report::Report& report = reports[luck % reports.size()];
  if (report.rows == nullptr) return;
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {});
  report::write_csv(report.rows({profile}), [](std::string_view) {});
}

void read(store::Reading& reading, std::uint64_t luck) {
  constexpr std::uint64_t kOneInUses = 8;
  const bool uses = luck % kOneInUses == 0;
  reading.counts.clear();
  const std::int64_t text_left = reading.text_left;
  if ((luck & 0x100U) != 0) {
    const model::Profile stored = store::read_stored_run(reading);
    fuzz::require(stored.fold.activity_instance.size() == stored.timeline.activities.size());
  } else {
    model::Profile profile;
    profile.timeline = store::read_timeline(reading);
    profile.fold = model::fold(profile.timeline, {});
    if (uses) use(std::move(profile), luck >> 9U);
  }
  reading.text_left = text_left;
}

// --- Cells ------------------------------------------------------------------------------------------------------------

// "(process, position) = (SELECT process, position FROM argument ORDER BY process, position LIMIT 1 OFFSET 3)"
std::string which_row(const store::Table& table, unsigned row) {
  std::string keys;
  for (std::size_t i = 0; i < table.keys; ++i) keys += (i == 0 ? "" : ", ") + table.columns[i].name;
  return fmt::format("({0}) = (SELECT {0} FROM {1} ORDER BY {0} LIMIT 1 OFFSET {2})", keys, table.name, row);
}

void set_cell(store::Statement statement, Input& input) {
  switch (input.byte() % 6) {
    case 0:
      return statement.run(std::optional<std::int64_t>());
    case 1:
      return statement.run(static_cast<std::int64_t>(static_cast<std::int8_t>(input.byte())));
    case 2:
      return statement.run(static_cast<std::int64_t>(input.number()));
    case 3: {
      const std::uint64_t bits = input.number();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return statement.run(value);
    }
    default:
      return statement.run(input.text());
  }
}

void change(store::Connection& connection, const std::vector<store::Table>& tables, Input& input) {
  constexpr unsigned kDeletes = 16;
  const store::Table& table = tables[input.byte() % tables.size()];
  const unsigned what = input.byte();
  const std::string row = which_row(table, input.byte() % 32);
  try {
    if (what % kDeletes == kDeletes - 1) return connection.run(fmt::format("DELETE FROM {} WHERE {}", table.name, row));
    const store::Column& column = table.columns[what % table.columns.size()];
    set_cell(connection.prepare(fmt::format("UPDATE {} SET {} = ? WHERE {}", table.name, column.name, row)), input);
  } catch (const Error&) {  // a constraint holds it
  }
}

void read_changed(Input input, std::uint64_t luck) {
  static const std::vector<store::Table> tables = all_tables();
  static store::Reading reading = [] {
    store::OpenDatabase opened = store::open_ours(database_path(), store::Access::add);
    opened.connection.run("PRAGMA journal_mode=MEMORY");
    return store::Reading(std::move(opened));
  }();
  const store::Transaction undone(reading.database.connection);
  while (!input.at_end()) change(reading.database.connection, tables, input);
  read(reading, luck);
}

// --- Bytes ------------------------------------------------------------------------------------------------------------

// Where (three bytes), and what.
void read_overwritten(Input input, std::uint64_t luck) {
  static const std::string good = read_file(database_path());
  std::vector<std::uint8_t> bytes(good.begin(), good.end());
  while (!input.at_end()) {
    std::size_t at = input.byte();
    at |= std::size_t{input.byte()} << 8U;
    at |= std::size_t{input.byte()} << 16U;
    const std::string text = input.text();
    if (at < bytes.size())
      std::copy_n(text.begin(), std::min(text.size(), bytes.size() - at), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const fuzz::MemoryFile file(bytes);
  store::Reading reading{std::filesystem::path(file.path())};
  read(reading, luck);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  fuzz::keep_memory_of_sqlite();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint64_t luck = fuzz::luck_of({data, size});
  const Input input({data + 1, size - 1});
  try {
    data[0] % 4 == 3 ? read_overwritten(input, luck) : read_changed(input, luck);
  } catch (const Error&) {  // an answer as good as any
  }
  return 0;
}
