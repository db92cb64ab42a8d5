#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "support/made_up_run.h"
#include "support/run_verb.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::demo_test {
namespace {

using testing::HasSubstr;

TEST(Demo, ShowsTheScreenOfACapture) {
  const test::TemporaryDirectory folder;
  (void)test::write_capture(folder.path(), test::sample_records(), "b_second");
  (void)test::write_made_up_run(folder.path(), {.iterations = 4, .launches = 10, .ranges = 50}, "a_first");
  const test::VerbResult result = test::run_verb(run_demo, {"demo", "--captures", folder.path().string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("a_first.dlkcap"));
  EXPECT_THAT(result.out, HasSubstr("What to change"));
}

TEST(Demo, OfTheShippedCapturesIsShortAndSaysWhatChanges) {
  const std::string captures = std::string(DLKPROF_SOURCE_DIR) + "/samples/captures";
  const std::string out = test::run_verb(run_demo, {"demo", "--captures", captures}).out;
  EXPECT_LE(std::count(out.begin(), out.end(), '\n'), 120);
  for (const std::string& line : split(out, '\n')) {
    EXPECT_TRUE(line.starts_with("$ ") || line.size() <= 80) << line;
  }
  EXPECT_THAT(out, testing::StartsWith("$ dlkprof report "));
  EXPECT_THAT(out, HasSubstr("The GPU works 72 % of each iteration"));
  EXPECT_THAT(out, HasSubstr("What to change"));
  EXPECT_THAT(out, HasSubstr("batch 512 compared with batch 4"));
}

TEST(Demo, SaysWhereItLookedInVain) {
  const test::TemporaryDirectory folder;
  const std::string empty = folder.path().string();
  EXPECT_THAT(test::message_of<Error>([&] { (void)test::run_verb(run_demo, {"demo", "--captures", empty}); }), HasSubstr(empty));
  EXPECT_THROW((void)test::run_verb(run_demo, {"demo", "--captures", empty + "/absent"}), Error);
}

}  // namespace
}  // namespace dlkprof::cli::demo_test
