#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs.h"
#include "support/run_verb.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::doctor_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

test::VerbResult doctor(std::vector<std::string> options) {
  options.insert(options.begin(), "doctor");
  return test::run_verb(run_doctor, options);
}

TEST(Doctor, HasALineACheckAndAnExitCodeThatFits) {
  const test::VerbResult result = doctor({});
  for (const char* name :
       {"sections and sets", "injected library", "output folder", "CUDA driver", "CUPTI", "counters", "permission"}) {
    EXPECT_THAT(result.out, ContainsRegex("(ok    |FAIL  )" + std::string(name)));
  }
  EXPECT_EQ(result.exit_code, result.out.find("FAIL") == std::string::npos ? 0 : 1);
}

TEST(Doctor, NamesWhatToDo) {
  const test::VerbResult result = doctor({"--output_path=/no/such/folder"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, ContainsRegex("FAIL  output folder .*/no/such/folder"));
  EXPECT_THAT(result.out, HasSubstr("Name another folder with --output_path."));
}

}  // namespace
}  // namespace dlkprof::cli::doctor_test
