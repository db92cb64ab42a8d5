#include "model/sass/disassembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "capture/encoding.h"
#include "support/temporary_directory.h"

namespace dlkprof::model::disassembler_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTiled = "_Z5tiledIfEvPKT_S2_PS0_i";

fs::path data(const char* name) { return fs::path(DLKPROF_SOURCE_DIR) / "tests/data" / name; }

class DisassemblerTest : public testing::Test {
 protected:
  DisassemblerTest() {
    for (const char* name : {"chase", kTiled, "elsewhere"}) {
      Kernel kernel;
      kernel.mangled = name;
      timeline_.kernels.push_back(kernel);
    }
    const std::string cubin = read_file(data("loops.cubin"));
    timeline_.pc_samples.codes = {{cubin.size(), capture::pack_code(cubin)}};
    timeline_.pc_samples.functions = {{0, 11, 0}, {1, 11, 0}, {2, 12}};
    timeline_.pc_samples.instructions = {{1, 0x210, 0, 0}, {0, 0, 0, 0}};
    timeline_.pc_samples.stalls = {{0, 0, 5, 5}, {1, 0, 1, 1}};
  }
  // An nvdisasm that is a script.
  [[nodiscard]] fs::path tool(const std::string& script) const {
    const fs::path path = folder_.path() / "nvdisasm";
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  // One that prints what a real one did, if it is given machine code.
  [[nodiscard]] fs::path recorded() const {
    return tool("for file; do :; done\nread -r magic < \"$file\"\ncase \"$magic\" in *ELF*) exec cat " +
                data("loops.sass").native() + ";; esac\nexit 1");
  }

  test::TemporaryDirectory folder_;
  Timeline timeline_;
};

TEST_F(DisassemblerTest, GivesEachFunctionItsInstructionsAndLoops) {
  const Disassembly made = disassemble(timeline_, recorded());
  EXPECT_THAT(made.notices, IsEmpty());
  ASSERT_NE(made.sass.of(1), nullptr);
  EXPECT_EQ(made.sass.of(1)->at(0x210)->text, "LDG.E R4, desc[UR8][R4.64]");
  EXPECT_THAT(made.sass.of(1)->loops, SizeIs(2));
  EXPECT_THAT(made.sass.of(0)->loops, SizeIs(1));
  EXPECT_EQ(made.sass.of(2), nullptr) << "its code was not kept";
  EXPECT_EQ(made.sass.of(99), nullptr);
}

TEST_F(DisassemblerTest, ReadsAFunctionWithinTheSectionOfAnother) {
  timeline_.kernels[0].mangled = "$chase$_Z6scaledff";
  const Disassembly made = disassemble(timeline_, recorded());
  ASSERT_NE(made.sass.of(0), nullptr);
  EXPECT_THAT(made.sass.of(0)->at(0)->text, HasSubstr("ULDC UR6, c[0x0][0x224]"));
}

TEST_F(DisassemblerTest, AsksForTheFunctionsByTheirSymbols) {
  const Disassembly made = disassemble(
      timeline_, tool("case \"$*\" in *'-c -g -fun 15,16 /proc/'*) exec cat " + data("loops.sass").native() + ";; esac\nexit 1"));
  EXPECT_THAT(made.notices, IsEmpty());
}

TEST_F(DisassemblerTest, DoesWithoutLinesWhereTheirTableIsNotUnderstood) {
  const Disassembly made =
      disassemble(timeline_, tool("case \"$*\" in *-g*) exit 1;; esac\nexec cat " + data("loops.sass").native()));
  EXPECT_THAT(made.notices, IsEmpty());
  EXPECT_NE(made.sass.of(1), nullptr);
}

TEST_F(DisassemblerTest, SaysOnceWhyThereIsNone) {
  timeline_.pc_samples.codes.push_back({20, {1, 2, 3}});
  timeline_.pc_samples.functions[2].code = 1;
  const Disassembly made = disassemble(timeline_, tool("exit 7"));
  ASSERT_THAT(made.notices, SizeIs(1));
  EXPECT_EQ(made.notices[0].what, "There is no SASS of 3 of the kernels sampled");
  EXPECT_THAT(made.notices[0].detail, HasSubstr("exit code 7"));
  EXPECT_EQ(made.sass.of(0), nullptr);
}

TEST_F(DisassemblerTest, OneModuleThatIsDamagedLeavesTheOthers) {
  timeline_.pc_samples.codes.push_back({20, {1, 2, 3}});
  timeline_.pc_samples.functions[2].code = 1;
  const Disassembly made = disassemble(timeline_, recorded());
  ASSERT_THAT(made.notices, SizeIs(1));
  EXPECT_THAT(made.notices[0].detail, HasSubstr("cannot be unpacked"));
  EXPECT_NE(made.sass.of(1), nullptr);
}

TEST(FindNvdisasm, LooksWhereThePathSays) {
  const test::TemporaryDirectory folder;
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  const std::string before = path == nullptr ? "" : path;
  const auto found_in = [&](const std::string& folders) {
    setenv("PATH", folders.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    const fs::path found = find_nvdisasm();
    setenv("PATH", before.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    return found;
  };
  const fs::path own = folder.path() / "bin/nvdisasm";
  fs::create_directories(own.parent_path());
  std::ofstream(own) << "#!/bin/sh\n";
  EXPECT_NE(found_in(own.parent_path().native()), own) << "not to be run";
  fs::permissions(own, fs::perms::owner_all);
  EXPECT_EQ(found_in(own.parent_path().native()), own);

  const fs::path triton = folder.path() / "env/lib/python3.12/site-packages/triton/backends/nvidia/bin/nvdisasm";
  fs::create_directories(triton.parent_path());
  fs::create_directories(folder.path() / "env/bin");
  std::ofstream(folder.path() / "env/bin/python3") << "";
  fs::copy_file(own, triton);
  const fs::path of_triton = found_in((folder.path() / "env/bin").native());
  const bool has_toolkit = fs::exists("/usr/local/cuda/bin/nvdisasm");  // which comes first
  EXPECT_TRUE(has_toolkit || of_triton == triton) << of_triton;
}

}  // namespace
}  // namespace dlkprof::model::disassembler_test
