#include "cli/machine.h"

#include <gtest/gtest.h>

namespace dlkprof::cli::machine_test {
namespace {

TEST(CountersForAdminsOnly, ReadsTheDriversParameters) {
  EXPECT_EQ(counters_for_admins_only("ResmanDebugLevel: 4\nRmProfilingAdminOnly: 1\nPreserve: 1\n"), true);
  EXPECT_EQ(counters_for_admins_only("RmProfilingAdminOnly: 0\n"), false);
  EXPECT_EQ(counters_for_admins_only("RmProfilingAdminOnly:0"), false);
  EXPECT_EQ(counters_for_admins_only("RmProfilingAdminOnlyToo: 1\n"), std::nullopt);
  EXPECT_EQ(counters_for_admins_only(""), std::nullopt);
}

TEST(HasSysAdmin, ReadsTheEffectiveCapabilities) {
  EXPECT_TRUE(has_sys_admin("Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t000001ffffffffff\n"));
  EXPECT_TRUE(has_sys_admin("CapEff:\t0000000000200000\n"));
  EXPECT_FALSE(has_sys_admin("CapPrm:\t000001ffffffffff\nCapEff:\t00000000a80425fb\n"));  // docker's default
  EXPECT_FALSE(has_sys_admin("CapEff:\tnonsense\n"));
  EXPECT_FALSE(has_sys_admin(""));
}

}  // namespace
}  // namespace dlkprof::cli::machine_test
