#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/library.h"

namespace dlkprof::cupti::remedy_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Remedy, TellsHowToOpenTheCounters) {
  EXPECT_THAT(remedy_for(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES),
              AllOf(HasSubstr("ERR_NVGPUCTRPERM"), HasSubstr("options nvidia NVreg_RestrictProfilingToAdminUsers=0"),
                    HasSubstr("/etc/modprobe.d"), HasSubstr("--cap-add=SYS_ADMIN"), HasSubstr("root")));
}

TEST(Remedy, NamesThoseWhoMayHoldTheCounters) {
  EXPECT_THAT(remedy_for(CUPTI_ERROR_HARDWARE_BUSY),
              AllOf(HasSubstr("dcgmi profile --pause"), HasSubstr("ncu"), HasSubstr("nsys")));
  EXPECT_THAT(remedy_for(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED), HasSubstr("torch.profiler"));
}

TEST(Remedy, SaysWhatKeepsADeviceFromBeingProfiled) {
  EXPECT_THAT(remedy_for(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED), HasSubstr("MIG"));
  EXPECT_THAT(remedy_for(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED), HasSubstr("Confidential computing"));
  EXPECT_THAT(remedy_for(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES), HasSubstr("vGPU"));
  EXPECT_THAT(remedy_for(CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED), HasSubstr("WSL"));
  EXPECT_THAT(remedy_for(CUPTI_ERROR_NOT_INITIALIZED), HasSubstr("libnvperf_host.so"));
}

// Every result that says what is wrong with the user's machine has a remedy; those that could only come from a
// mistake of ours have none, rather than a false trail.
TEST(Remedy, IsThereForWhatAUserCanChange) {
  for (const CUptiResult result :
       {CUPTI_ERROR_INVALID_DEVICE, CUPTI_ERROR_OUT_OF_MEMORY, CUPTI_ERROR_HARDWARE, CUPTI_ERROR_API_NOT_IMPLEMENTED,
        CUPTI_ERROR_NOT_COMPATIBLE, CUPTI_ERROR_NOT_INITIALIZED, CUPTI_ERROR_INVALID_METRIC_NAME, CUPTI_ERROR_DISABLED,
        CUPTI_ERROR_HARDWARE_BUSY, CUPTI_ERROR_NOT_SUPPORTED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
        CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED,
        CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_INVALID_CHIP_NAME,
        CUPTI_ERROR_UNKNOWN}) {
    const std::string remedy = remedy_for(result);
    EXPECT_FALSE(remedy.empty()) << result;
    EXPECT_EQ(remedy.empty() ? '.' : remedy.back(), '.') << result;
  }
  for (const CUptiResult result : {CUPTI_SUCCESS, CUPTI_ERROR_INVALID_PARAMETER, CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT,
                                   CUPTI_ERROR_INVALID_KIND, CUPTI_ERROR_QUEUE_EMPTY}) {
    EXPECT_EQ(remedy_for(result), "") << result;
  }
}

}  // namespace
}  // namespace dlkprof::cupti::remedy_test
