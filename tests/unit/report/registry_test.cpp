#include "report/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "support/golden.h"
#include "support/run_verb.h"

namespace dlkprof::report::registry_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint(const std::vector<std::string>& names, bool simple) {
  return test::message_of<UsageError>([&] { (void)report_names(names, simple); });
}

TEST(Registry, ReportsAreAskedForByNameAndOnce) {
  EXPECT_THAT(report_names({"node_op", "op_type"}, false), ElementsAre("op_type"));
  EXPECT_THAT(report_names({"detail", "all"}, false),
              ElementsAre("detail", "summary", "iteration", "kernel", "tensor", "op_type", "group_node", "expert_systems",
                          "bottleneck", "occupancy", "stall", "memory", "roofline", "coverage", "measured"));
  EXPECT_THAT(report_names({"occupancy_curves"}, false), ElementsAre("occupancy_curves"));
  EXPECT_THAT(report_names({"all"}, true), ElementsAre("summary", "kernel"));
  EXPECT_THAT(complaint({"detail"}, true), HasSubstr("There are: summary, kernel"));
  EXPECT_THAT(complaint({"detial"}, false), HasSubstr("Did you mean detail?"));
}

TEST(Registry, EveryKnownNameIsTaken) {
  const std::vector<std::string> known = known_names();
  for (const Report& one : reports()) EXPECT_THAT(known, testing::Contains(std::string(one.name)));
  for (const std::string& name : known) EXPECT_NO_THROW((void)report_names({name}, false)) << name;
}

// The table in docs/user/reports.md; made anew where DLKPROF_REGENERATE is set.
TEST(Registry, DocumentHasItsTable) {
  const std::filesystem::path path = std::filesystem::path(DLKPROF_SOURCE_DIR) / "docs" / "user" / "reports.md";
  const std::string text = read_file(path);
  const std::string table = describe_reports();
  const std::size_t begin = text.find(table.substr(0, table.find('\n')));
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = text.find("\n\n", begin) + 1;
  test::expect_file(path, text.substr(0, begin) + table + text.substr(end));
}

}  // namespace
}  // namespace dlkprof::report::registry_test
