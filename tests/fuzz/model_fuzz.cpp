// All that follows the reader: a capture is joined, folded and summed, a report of it is written, and its rows go into a database
// and come back. Whatever the bytes: no crash, no hang, and what the loader takes the database holds. Input: a byte that only
// changes the luck, then records (records.h).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "fuzz/records.h"
#include "fuzz/scratch.h"
#include "fuzz/sqlite_memory.h"
#include "model/profile.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/format/markdown.h"
#include "report/ops/summary_report.h"
#include "report/registry.h"
#include "store/rows.h"
#include "store/write.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using fuzz::Bytes;
using fuzz::RawRecord;

model::Profile profile_of(Bytes records) {
  const fuzz::MemoryFile file(fuzz::capture_of(records));
  model::Profile profile;
  profile.timeline = model::load_timeline(std::vector<std::filesystem::path>{file.path()});
  profile.fold = model::fold(profile.timeline, {});
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {});
  return profile;
}

void write_rows(const report::Rows& rows, const report::Report& report, unsigned format) {
  const report::Sink nowhere = [](std::string_view) {};
  switch (format % 4) {
    case 0:
      return report::write_csv(rows, nowhere);
    case 1:
      return report::write_json(rows, nowhere);
    case 2:
      (void)report::people_table(rows, {}, report::people_columns(report.name), {});
      return;
    default:
      (void)report::markdown_table(rows, {}, report::people_columns(report.name));
  }
}

void write_summary(const model::Profile& profile) {
  const auto tables = report::summary_tables(profile, {"fuzz", true});
  (void)report::summary_text(tables);
  (void)report::summary_json(tables);
  (void)report::flatten(tables);
}

void write_report(const model::Profile& profile, std::uint64_t luck) {
  const std::span<const report::Report> reports = report::reports();
  const report::Report& report = reports[luck % reports.size()];
  const auto format = static_cast<unsigned>(luck >> 16U);
  if (report.rows == nullptr) return write_summary(profile);
  if (report.text != nullptr && format % 8 == 4) (void)report.text(profile, {}, {});
  if (report.picture != nullptr && format % 2 == 0) (void)report.picture(profile);
  if (report.json != nullptr && format % 2 == 0) (void)report.json(profile);
  write_rows(report.rows({profile}), report, format);
}

// A database without rows. To make its tables and views takes longer than all else, and so it is made once, and each run is
// rolled back.
store::Reading& database() {
  static store::Reading reading = [] {
    const std::filesystem::path path = fuzz::scratch_folder() / "run.sqlite";
    fuzz::require(close(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) == 0);
    {
      store::Connection connection(path, store::Access::build);
      store::create_schema(connection);
    }
    store::OpenDatabase opened = store::open_ours(path, store::Access::add);
    opened.connection.run("PRAGMA journal_mode=MEMORY");
    return store::Reading(std::move(opened));
  }();
  reading.counts.clear();
  reading.text_left = std::int64_t{1} << 30U;
  return reading;
}

// What was written must be read.
void go_through_database(const model::Profile& profile) {
  store::Reading& reading = database();
  const store::Transaction undone(reading.database.connection);
  try {
    store::insert_run(reading.database.connection, profile, advise::diagnosis_of(profile));
    const model::Timeline again = store::read_timeline(reading);
    fuzz::require(again.ranges.size() == profile.timeline.ranges.size());
    fuzz::require(again.activities.size() == profile.timeline.activities.size());
    (void)store::read_stored_run(database());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    std::abort();
  }
}

void mutate_record(RawRecord& record, std::size_t room) {
  const std::size_t size = record.payload.size();
  record.payload.resize(std::max<std::size_t>(size + std::min<std::size_t>(room, 64), 1));
  record.payload.resize(LLVMFuzzerMutate(record.payload.data(), size, record.payload.size()));
}

void mutate(std::vector<RawRecord>& records, std::size_t room, std::minstd_rand& chance) {
  if (records.empty()) records.push_back({static_cast<std::uint8_t>(chance() % 19), {}});
  RawRecord& one = records[chance() % records.size()];
  switch (chance() % 16) {
    case 0:
      records.erase(records.begin() + (&one - records.data()));
      return;
    case 1: {
      const RawRecord copy = one;
      records.insert(records.begin() + static_cast<std::ptrdiff_t>(chance() % records.size()), copy);
      return;
    }
    case 2:
      std::swap(one, records[chance() % records.size()]);
      return;
    default:
      mutate_record(one, room);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  if (size < 1) return LLVMFuzzerMutate(data, size, max_size);
  std::minstd_rand chance(seed);
  std::vector<RawRecord> records = fuzz::split_records({data + 1, size - 1});
  mutate(records, max_size - size, chance);
  std::vector<std::uint8_t> joined{static_cast<std::uint8_t>(chance())};
  for (const RawRecord& record : records) fuzz::join_record(joined, record);
  joined.resize(std::min(joined.size(), max_size));
  std::memcpy(data, joined.data(), joined.size());
  return joined.size();
}

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  fuzz::keep_memory_of_sqlite();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kOneInReports = 4, kOneInDatabases = 64;
  if (size == 0) return 0;
  const std::uint64_t luck = fuzz::luck_of({data, size});
  try {
    const model::Profile profile = profile_of({data + 1, size - 1});
    if (luck % kOneInDatabases == 1) go_through_database(profile);
    if (luck % kOneInReports == 0) write_report(profile, luck >> 8U);
  } catch (const Error&) {  // not a capture
  }
  return 0;
}
