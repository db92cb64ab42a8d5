#include "base/confined_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace dlkprof::confined_program_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr ProgramLimits kEnough{.time = 20s, .output_bytes = 1U << 20U, .memory_bytes = std::size_t{2} << 30U};

std::string shell(const std::string& script, const std::string& bytes = "", const ProgramLimits& limits = kEnough) {
  return output_of_confined("/bin/sh", {"-c", script, "sh"}, bytes, limits);
}

std::string failure_of(const std::string& script, const ProgramLimits& limits = kEnough) {
  try {
    return "no failure: " + shell(script, "", limits);
  } catch (const Error& error) {
    return error.detail();
  }
}

TEST(ConfinedProgram, ReadsTheBytesByPath) {
  EXPECT_EQ(shell("while IFS= read -r line; do echo \"<$line>\"; done < \"$1\"", "one\ntwo\n"), "<one>\n<two>\n");
  EXPECT_EQ(shell("exec cat \"$1\"", std::string("\0\xff", 2)), std::string("\0\xff", 2));
}

TEST(ConfinedProgram, HasAnEmptyEnvironment) { EXPECT_EQ(shell("echo \"$HOME$DLKPROF_OPTIONS$LD_PRELOAD\""), "\n"); }

TEST(ConfinedProgram, WritesNoFile) {
  const test::TemporaryDirectory folder;
  const std::string file = (folder.path() / "made").native();
  EXPECT_THAT(failure_of("echo x > " + file), HasSubstr("exit code"));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(failure_of("exec mkdir " + file), HasSubstr("exit code"));
  EXPECT_THAT(failure_of("exec rm -r " + folder.path().native()), HasSubstr("exit code"));
  EXPECT_THAT(failure_of("exec chmod 755 " + folder.path().native()), HasSubstr("exit code"));
  EXPECT_TRUE(std::filesystem::exists(folder.path()));
}

TEST(ConfinedProgram, StartsAndEndsNoProcess) {
  EXPECT_THAT(failure_of("/bin/true; echo done"), HasSubstr("exit code"));
  EXPECT_THAT(failure_of("kill -0 $PPID"), HasSubstr("exit code"));
}

TEST(ConfinedProgram, MayNotGoBeyondItsLimits) {
  ProgramLimits limits = kEnough;
  limits.output_bytes = 100;
  EXPECT_THAT(failure_of("while :; do echo too much of the same; done", limits), HasSubstr("printed too much"));
  limits = kEnough;
  limits.time = 200ms;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(failure_of("while :; do :; done", limits), HasSubstr("did not come to an end in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(ConfinedProgram, SaysHowItEnded) {
  EXPECT_EQ(failure_of("echo half; exit 3"), "it ended with exit code 3");
  EXPECT_THROW((void)output_of_confined("/no/such/program", {}, {}, kEnough), Error);
}

}  // namespace
}  // namespace dlkprof::confined_program_test
