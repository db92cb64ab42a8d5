#include "inject/session/function_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlkprof::inject::function_table_test {
namespace {

CUfunction handle(std::uintptr_t address) { return reinterpret_cast<CUfunction>(address); }

class FunctionTableTest : public testing::Test {
 protected:
  static capture::FunctionRecord record(const char* name, std::uint32_t registers = 8) {
    capture::FunctionRecord made;
    made.mangled_name = name;
    made.registers_per_thread = registers;
    return made;
  }
  std::vector<std::uint32_t> new_ids_;
  select::Selector selector_ = select::Selector::compile({});
  FunctionTable table_{selector_, [this](const capture::FunctionRecord& fresh) { new_ids_.push_back(fresh.id); }};
};

TEST_F(FunctionTableTest, HandlesAreReadOnce) {
  EXPECT_EQ(table_.find(handle(0x10)), nullptr);
  const KernelFunction& added = table_.add(handle(0x10), record("_Z1fv"));
  EXPECT_EQ(table_.find(handle(0x10)), &added);
  EXPECT_EQ(added.match, select::NameMatch::yes);
  EXPECT_EQ(table_.find(handle(0x20)), nullptr);
}

TEST_F(FunctionTableTest, FunctionsAreToldApartByAllThatIsKnownOfThem) {
  const KernelFunction& first = table_.add(handle(0x10), record("_Z1fv"));
  EXPECT_EQ(&table_.add(handle(0x20), record("_Z1fv")), &first) << "in another context";
  EXPECT_NE(&table_.add(handle(0x30), record("_Z1fv", 16)), &first) << "another variant of the same name";
  EXPECT_EQ(table_.add(handle(0x40), record("_Z1fv"), {2, 1, 1}).cluster.x, 2) << "compiled for clusters";
  EXPECT_EQ(first.cluster.x, 1);
  EXPECT_THAT(new_ids_, testing::ElementsAre(1, 2, 3));
}

TEST_F(FunctionTableTest, HandlesAreReadAgainWhenAModuleWasUnloaded) {
  const KernelFunction& first = table_.add(handle(0x10), record("_Z1fv"));
  const std::uint64_t before = table_.epoch();
  table_.forget_handles();
  EXPECT_NE(table_.epoch(), before);
  EXPECT_EQ(table_.find(handle(0x10)), nullptr);
  EXPECT_EQ(&table_.add(handle(0x10), record("_Z1fv")), &first) << "and keeps its id";
  EXPECT_THAT(new_ids_, testing::ElementsAre(1));
}

TEST_F(FunctionTableTest, KernelsThatHoldTheirStreamBackAreKnownByName) {
  const char* const xlas =
      "_ZN15stream_executor3gpu56_GLOBAL__N__0adca48f_23_delay_kernel_cuda_cu_cc_a9426d2111DelayKernelEPVNS_"
      "17GpuSemaphoreStateES2_";
  EXPECT_TRUE(table_.add(handle(0x10), record(xlas)).delays);
  for (const char* name : {"_ZN2my11DelayKernelEv", "_ZN15stream_executor3gpu12_GLOBAL__N_116RedzoneCheckerEv", "_Z1fv"}) {
    EXPECT_FALSE(table_.add(handle(0x10), record(name)).delays) << name;
  }
}

}  // namespace
}  // namespace dlkprof::inject::function_table_test
