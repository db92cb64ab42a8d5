#include "report/launches/kernel_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/format/layout.h"
#include "support/golden.h"
#include "support/sample_run.h"

namespace dlkprof::report::kernel_tables_test {
namespace {

using testing::HasSubstr;
using testing::Not;

KernelTablesOptions options(bool terminal = false) { return {test::sample_sections(), {"smsp__inst_executed.sum"}, terminal}; }

void expect_narrow(const std::string& text) {
  for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), kTableWidth) << line;
}

std::string without_bold(std::string text) {
  for (const std::string code : {"\033[1m", "\033[0m"}) {
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code)) text.erase(at, code.size());
  }
  return text;
}

TEST(KernelTables, ReadAsTheyAlwaysDid) {
  const std::string text = kernel_tables(test::sample_run(), options());
  expect_narrow(text);
  test::expect_golden("kernels.txt", text);
}

TEST(KernelTables, HaveBarsOnATerminal) {
  model::Run run = test::sample_run();
  run.launches.resize(1);
  const std::string text = kernel_tables(run, options(true));
  expect_narrow(without_bold(text));
  test::expect_golden("kernels_terminal.txt", text);
}

TEST(KernelTables, CarryNoEscapesElsewhere) { EXPECT_THAT(kernel_tables(test::sample_run(), options()), Not(HasSubstr("\033"))); }

TEST(KernelTables, CutWideNamesAndEscapeHostileOnes) {
  model::Run run = test::sample_run();
  run.functions.at(1).base_name = std::string(300, 'k');
  run.functions.at(1).demangled = "evil\033]0;title\a\n" + std::string(300, 'x');
  run.devices.at(0).name = std::string(500, 'd');
  const std::string text = kernel_tables(run, options());
  expect_narrow(text);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, HasSubstr("kkk..."));
}

TEST(KernelTables, KeepAlignmentWithAnyValue) {
  model::Run run = test::sample_run();
  run.launches.resize(1);
  for (const double value : {0.0, -1.0, 1e-30, 1e14, 1.7e308}) {
    for (auto& [metric, held] : run.launches[0].values) held = value;
    expect_narrow(kernel_tables(run, options()));
    expect_narrow(without_bold(kernel_tables(run, options(true))));
  }
}

TEST(KernelTables, SayWhereNothingWasMeasured) {
  model::Run run = test::sample_run();
  run.launches.resize(1);
  run.launches[0].values.clear();
  const std::string text = kernel_tables(run, {{test::sample_sections()[0]}, {}, false});
  EXPECT_THAT(text, HasSubstr("Nothing of the sections shown was measured"));
}

TEST(KernelTables, SurviveLaunchesThatTheCaptureDoesNotDescribe) {
  model::Run run = test::sample_run();
  run.functions.clear();
  run.devices.clear();
  EXPECT_THAT(kernel_tables(run, options()), HasSubstr("unknown function 1"));
}

}  // namespace
}  // namespace dlkprof::report::kernel_tables_test
