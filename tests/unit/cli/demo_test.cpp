#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/verbs.h"
#include "support/made_up_run.h"
#include "support/run_verb.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::demo_test {
namespace {

using testing::HasSubstr;

TEST(Demo, ShowsEveryCaptureInTurn) {
  const test::TemporaryDirectory folder;
  (void)test::write_capture(folder.path(), test::sample_records(), "b_second");
  (void)test::write_capture(folder.path(), test::sample_records(), "a_first");
  const test::VerbResult result = test::run_verb(run_demo, {"demo", "--captures", folder.path().string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("gemm_simple"));
  EXPECT_LT(result.out.find("a_first.dlkcap"), result.out.find("b_second.dlkcap"));
}

TEST(Demo, ShowsTopOpsWhereThereAreAny) {
  const test::TemporaryDirectory folder;
  (void)test::write_made_up_run(folder.path(), {.iterations = 2, .launches = 10, .ranges = 50}, "net");
  const std::string out = test::run_verb(run_demo, {"demo", "--captures", folder.path().string()}).out;
  EXPECT_THAT(out, HasSubstr("GPU time   share"));
  EXPECT_THAT(out, HasSubstr("aten::"));
}

TEST(Demo, SaysWhereItLookedInVain) {
  const test::TemporaryDirectory folder;
  const std::string empty = folder.path().string();
  EXPECT_THAT(test::message_of<Error>([&] { (void)test::run_verb(run_demo, {"demo", "--captures", empty}); }), HasSubstr(empty));
  EXPECT_THROW((void)test::run_verb(run_demo, {"demo", "--captures", empty + "/absent"}), Error);
}

}  // namespace
}  // namespace dlkprof::cli::demo_test
