#include "job/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "job/page_views.h"

namespace dlkprof::job::schema_test {
namespace {

TEST(JobSchema, StandsInTheDocumentation) {
  std::ifstream file(DLKPROF_SOURCE_DIR "/docs/user/jobs.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(page, testing::HasSubstr(describe_job_schema()));
  EXPECT_THAT(page, testing::HasSubstr(describe_page_views()));
}

}  // namespace
}  // namespace dlkprof::job::schema_test
