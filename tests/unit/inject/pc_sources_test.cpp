#include "inject/sampling/pc_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "capture/encoding.h"
#include "cupti/cubin_code.h"

namespace dlkprof::inject::pc_sources_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTiled = "_Z5tiledIfEvPKT_S2_PS0_i";

std::string cubin() { return read_file(std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests/data/loops.cubin"); }
std::string without_lines() {
  std::string bytes = cubin();
  for (std::size_t at = 0; (at = bytes.find("debug_line", at)) != std::string::npos; ++at) bytes[at] = 'x';
  return bytes;
}

class PcSourcesTest : public testing::Test {
 protected:
  const cupti::Library& library_ = cupti::Library::open();
  PcSources sources_{library_};
  std::uint64_t crc_ = cupti::crc_of(library_, cubin());
  std::vector<capture::PcFunction> functions_{{0, crc_, "chase"}, {1, crc_, kTiled}};
};

TEST_F(PcSourcesTest, CodeOfWhatIsSampledIsTakenOnce) {
  sources_.loaded(cubin());
  sources_.sampled(1, crc_, 0x210);
  sources_.sampled(1, crc_, 0x220);
  const auto taken = sources_.take_code(functions_, 1s);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_THAT(taken[0].functions, ElementsAre(1));
  const std::vector<char> elf = capture::unpack_code(taken[0].zstd_elf, taken[0].elf_bytes);
  EXPECT_TRUE(cupti::find_code(elf, kTiled));
  EXPECT_FALSE(cupti::find_code(elf, "chase"));
  EXPECT_THAT(sources_.take_code(functions_, 1s), IsEmpty());

  sources_.sampled(0, crc_, 0);
  const auto later = sources_.take_code(functions_, 1s);
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_THAT(later[0].functions, ElementsAre(0));
  EXPECT_EQ(sources_.functions_with_code(), 2U);
}

TEST_F(PcSourcesTest, CodeOfModulesWithoutLinesIsKeptToo) {
  const std::uint64_t crc = cupti::crc_of(library_, without_lines());
  functions_ = {{0, crc, "chase"}};
  for (int i = 0; i < 3; ++i) sources_.loaded(without_lines());
  sources_.sampled(0, crc, 0);
  EXPECT_THAT(sources_.find_lines(functions_, 1s).lines, IsEmpty());
  EXPECT_THAT(sources_.take_code(functions_, 1s), SizeIs(1));
}

TEST_F(PcSourcesTest, WithoutTimeNothingIsTakenAndNothingLost) {
  sources_.loaded(cubin());
  sources_.sampled(1, crc_, 0x210);
  EXPECT_THAT(sources_.take_code(functions_, 0s), IsEmpty());
  EXPECT_THAT(sources_.take_code(functions_, 1s), SizeIs(1));
}

TEST_F(PcSourcesTest, ModulesThatAreTooLargeAreLeftOut) {
  sources_.loaded(std::string(capture::kMostCodeBytes + 1, 'x'));
  EXPECT_EQ(sources_.modules_left_out(), 1U);
  for (int i = 0; i < 8; ++i) sources_.loaded(std::string(capture::kMostCodeBytes, 'x'));
  EXPECT_GT(sources_.modules_left_out(), 1U) << "too much before our thread looks";
}

TEST_F(PcSourcesTest, NoneIsTakenAfterItWasForgotten) {
  sources_.loaded(cubin());
  sources_.sampled(1, crc_, 0x210);
  sources_.forget_code();
  sources_.sampled(0, crc_, 0);
  EXPECT_THAT(sources_.take_code(functions_, 1s), IsEmpty());
  EXPECT_THAT(sources_.find_lines(functions_, 1s).lines, SizeIs(2)) << "lines still are";
}

TEST_F(PcSourcesTest, BytesThatAreNoMachineCodeHarmNothing) {
  sources_.loaded(std::string("no cubin"));
  sources_.loaded(
      std::string("\x7f"
                  "ELF and nothing else"));
  sources_.loaded(std::string());
  sources_.loaded(cubin());
  sources_.sampled(1, crc_, 0x210);
  EXPECT_THAT(sources_.take_code(functions_, 1s), SizeIs(1));
}

TEST_F(PcSourcesTest, OfModulesThatWereNeverSeenThereIsNone) {
  sources_.sampled(1, 77, 0x210);
  EXPECT_THAT(sources_.take_code(functions_, 1s), IsEmpty());
}

}  // namespace
}  // namespace dlkprof::inject::pc_sources_test
