#include "cli/profile/placeholders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::placeholders_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Placeholders : public testing::Test {
 protected:
  [[nodiscard]] Outputs filled(const std::string& directory, const std::string& base_name) const {
    Outputs outputs;
    outputs.directory = folder_ / directory;
    outputs.base_name = base_name;
    fill_placeholders(outputs);
    return outputs;
  }
  [[nodiscard]] std::string name(const std::string& base_name) const { return filled("", base_name).base_name; }
  [[nodiscard]] std::string complaint(const std::string& base_name) const {
    try {
      return "taken: " + name(base_name);
    } catch (const UsageError& error) {
      return error.message();
    }
  }
  void make(const std::string& file) const { std::ofstream(folder_ / file) << "x"; }

  test::TemporaryDirectory temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(Placeholders, StandForHostProcessAndEnvironment) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  setenv("DLKPROF_TEST_RANK", "7%p", 1);
  EXPECT_EQ(name("plain"), "plain");
  EXPECT_EQ(name("a_%h_%p"), "a_" + std::string(host) + "_" + std::to_string(getpid()));
  EXPECT_EQ(name("r%q{DLKPROF_TEST_RANK}_100%%"), "r7%p_100%") << "what is put in is not looked at again";
  EXPECT_EQ(filled("run_%q{DLKPROF_TEST_RANK}", "x").directory, folder_ / "run_7%p");
}

TEST_F(Placeholders, NumbersAreThoseNotTaken) {
  EXPECT_EQ(name("run%i"), "run1");
  make("run1.dlkcap");
  make("run2_dldb.sqlite");
  make("run33.dlkcap");
  EXPECT_EQ(name("run%i"), "run3");
  EXPECT_EQ(name("run%n"), "run3");
  fs::create_directory(folder_ / "d1");
  EXPECT_EQ(filled("d%i", "x").directory, folder_ / "d2");
  EXPECT_EQ(filled("d%i", "x%i").base_name, "x2") << "one number for both";
}

TEST_F(Placeholders, OthersAreUsageErrors) {
  unsetenv("DLKPROF_TEST_UNSET");
  for (const char* text : {"100%", "%z", "%", "a%q", "a%q{X", "%q{DLKPROF_TEST_UNSET}"}) {
    EXPECT_THAT(complaint(text), testing::AllOf(HasSubstr("--base_name"), HasSubstr("%q{NAME}"))) << text;
  }
  EXPECT_THAT(complaint("%q{DLKPROF_TEST_UNSET}"), HasSubstr("no variable DLKPROF_TEST_UNSET"));
}

}  // namespace
}  // namespace dlkprof::cli::placeholders_test
