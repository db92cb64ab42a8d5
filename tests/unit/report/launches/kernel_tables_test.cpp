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
  const std::string text = kernel_tables(test::sample_run().timeline, options());
  expect_narrow(text);
  test::expect_golden("kernels.txt", text);
}

TEST(KernelTables, HaveBarsOnATerminal) {
  model::Timeline run = test::load_records(test::one_launch()).timeline;
  const std::string text = kernel_tables(run, options(true));
  expect_narrow(without_bold(text));
  test::expect_golden("kernels_terminal.txt", text);
}

TEST(KernelTables, CarryNoEscapesElsewhere) {
  EXPECT_THAT(kernel_tables(test::sample_run().timeline, options()), Not(HasSubstr("\033")));
}

TEST(KernelTables, BreakWideNamesAndEscapeHostileOnes) {
  model::Timeline run = test::sample_run().timeline;
  run.kernels[0].name = std::string(300, 'k');
  run.kernels[0].long_name = "evil\033]0;title\a\n" + std::string(300, 'x');
  run.devices.at(0).record.name = std::string(500, 'd');
  const std::string text = kernel_tables(run, options());
  expect_narrow(text);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  const std::string wide(kTableWidth, 'k');
  EXPECT_THAT(text, HasSubstr(wide + "\n" + wide + "\n" + wide + "\n" + std::string(60, 'k') + "\n")) << "in full";
  run.kernels[0].long_name = run.kernels[0].name = std::string(1U << 20U, 'm');
  EXPECT_LT(kernel_tables(run, options()).size(), text.size() + 10'000);
  EXPECT_THAT(kernel_tables(run, options()), HasSubstr("mmm..."));
}

TEST(KernelTables, KeepAlignmentWithAnyValue) {
  model::Timeline run = test::load_records(test::one_launch()).timeline;
  for (const double value : {0.0, -1.0, 1e-30, 1e14, 1.7e308}) {
    for (auto& [config, metrics] : run.measured) {
      for (auto& [metric, held] : metrics) held = {value};
    }
    expect_narrow(kernel_tables(run, options()));
    expect_narrow(without_bold(kernel_tables(run, options(true))));
  }
}

TEST(KernelTables, SayWhereNoNameMatches) {
  KernelTablesOptions none = options();
  none.accepts = [](const std::string&) { return false; };
  EXPECT_THAT(kernel_tables(test::sample_run().timeline, none), HasSubstr("no measured kernel has such a name"));
}

TEST(KernelTables, SurviveLaunchesThatTheCaptureDoesNotDescribe) {
  model::Timeline run = test::sample_run().timeline;
  for (model::Config& config : run.configs) config.kernel = model::kNone;
  run.functions.clear();
  run.processes[0].devices.clear();
  EXPECT_THAT(kernel_tables(run, options()), HasSubstr("unknown function 1"));
}

}  // namespace
}  // namespace dlkprof::report::kernel_tables_test
