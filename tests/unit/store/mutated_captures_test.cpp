// Whatever the loader takes of a capture the database can hold: what was written reads back.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "model/profile.h"
#include "store/database.h"
#include "support/mutations.h"
#include "support/records_of_all_types.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::store::mutated_captures_test {
namespace {

namespace fs = std::filesystem;

model::Profile profile_of(const fs::path& capture) {
  model::Profile profile;
  profile.timeline = model::load_timeline(std::vector{capture});
  profile.fold = model::fold(profile.timeline, {});
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {});
  return profile;
}

// A capture that is none is refused at once, which is as good.
bool is_refused(const fs::path& capture) {
  try {
    (void)model::load_timeline(std::vector{capture});
    return false;
  } catch (const Error&) {
    return true;
  }
}

void expect_round_trip(const std::vector<capture::Record>& records) {
  const test::TemporaryDirectory folder;
  const fs::path capture = test::write_capture(folder.path(), records);
  if (is_refused(capture)) return;
  const fs::path database = folder.path() / "run_dldb.sqlite";
  const model::Profile profile = profile_of(capture);
  write_database(database, profile);
  const model::Timeline again = read_timeline(database);
  EXPECT_EQ(again.ranges.size(), profile.timeline.ranges.size());
  EXPECT_EQ(again.activities.size(), profile.timeline.activities.size());
  EXPECT_EQ(again.notices.size(), profile.timeline.notices.size());
  (void)read_stored_run(database);
}

// For a longer search: DLKPROF_MUTANTS=20000 store_test --gtest_filter='MutatedCaptures.*'
std::uint64_t mutants() {
  constexpr std::uint64_t kFew = 150;
  const char* const asked = std::getenv("DLKPROF_MUTANTS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : kFew;
}

TEST(MutatedCaptures, DatabasesOfThemReadBack) {
  const std::vector<capture::Record> records = test::records_of_all_types();
  expect_round_trip(records);
  for (std::uint64_t seed = 1; seed <= mutants(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      expect_round_trip(test::Mutator(seed).mutate(records));
    } catch (const Error& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

// As a newer dlkprof may write it.
TEST(MutatedCaptures, SeveritiesThatAreNotKnownAreWarnings) {
  const test::TemporaryDirectory folder;
  std::vector<capture::Record> records = test::records_of_all_types();
  records.emplace_back(capture::NoticeRecord{static_cast<capture::Severity>(7), "from the future", "", ""});
  expect_round_trip(records);
  const model::Timeline timeline = model::load_timeline(std::vector{test::write_capture(folder.path(), records)});
  const auto notice = std::find_if(timeline.notices.begin(), timeline.notices.end(),
                                   [](const capture::NoticeRecord& one) { return one.what == "from the future"; });
  ASSERT_NE(notice, timeline.notices.end());
  EXPECT_EQ(notice->severity, capture::Severity::warning);
}

}  // namespace
}  // namespace dlkprof::store::mutated_captures_test
