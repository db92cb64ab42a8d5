#include "inject/session/system_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_directory.h"

namespace dlkprof::inject::system_facts_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(SystemFacts, AreTakenFromProcfs) {
  const test::TemporaryDirectory proc;
  write(proc.path() / "cpuinfo", "processor\t: 0\nmodel name\t: A Processor 9000\nprocessor\t: 1\nmodel name\t: Another\n");
  write(proc.path() / "driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version:  gcc 12.3.0\n");
  EXPECT_THAT(system_facts(proc.path()), ElementsAre(capture::Fact{"system", "cpu.model", "A Processor 9000"},
                                                     capture::Fact{"system", "driver.version", "580.159.04"}));
}

TEST(SystemFacts, AreLeftOutWhereThereAreNone) {
  const test::TemporaryDirectory proc;
  EXPECT_THAT(system_facts(proc.path()), IsEmpty());
  write(proc.path() / "cpuinfo", "model name\n: x");
  write(proc.path() / "driver/nvidia/version", "NVRM version: none\n");
  EXPECT_THAT(system_facts(proc.path()), IsEmpty());
}

}  // namespace
}  // namespace dlkprof::inject::system_facts_test
