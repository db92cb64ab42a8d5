#include "job/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"
#include "job/page_views.h"

namespace dlkprof::job::schema_test {
namespace {

TEST(JobSchema, StandsInTheDocumentation) {
  std::ifstream file(DLKPROF_SOURCE_DIR "/docs/user/jobs.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(page, testing::HasSubstr(describe_job_schema()));
  EXPECT_THAT(page, testing::HasSubstr(describe_page_views()));
}

// The documentation marks them in the order of the columns.
TEST(JobSchema, TablesBeginWithTheirKeys) {
  for (const JobTable& table : kJobTables) {
    const std::vector<std::string> columns = split(table.columns, ','), keys = split(table.keys, ',');
    ASSERT_LE(keys.size(), columns.size());
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_THAT(columns[i], testing::StartsWith(keys[i] + " ")) << table.name;
  }
}

}  // namespace
}  // namespace dlkprof::job::schema_test
