// What a user can do about a CUPTI result. From cupti_result.h, the CUPTI guide and what was met on real machines.
#include "cupti/library.h"

namespace dlkprof::cupti {
namespace {

constexpr const char* kPermission =
    "The driver keeps the GPU's performance counters for administrators (ERR_NVGPUCTRPERM). Run as root or with CAP_SYS_ADMIN; "
    "start a container with --cap-add=SYS_ADMIN; or, to let every user profile, write as root on the host "
    "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file of /etc/modprobe.d and reload the driver or reboot.";
constexpr const char* kHypervisor =
    "The hypervisor does not let this virtual GPU profile. Ask whoever runs it to enable profiling for the vGPU "
    "(plugin parameter enable_profiling=1), or profile on a GPU that is passed through whole.";
constexpr const char* kBusy =
    "Another profiler holds the GPU's counters: ncu, nsys, DCGM, torch.profiler or a second dlkprof. End it; for DCGM run "
    "'dcgmi profile --pause' before and 'dcgmi profile --resume' after.";
constexpr const char* kSubscribed =
    "Another CUPTI client is in this process: torch.profiler, nsys, ncu or cuda-gdb. Run the program without it.";
constexpr const char* kOldApi =
    "The program uses CUPTI's old event and metric functions itself, which exclude the range profiler. Run it without them.";
constexpr const char* kUnsupported =
    "This GPU, driver or platform has no range profiling. It needs compute capability 7.5 (Turing) or later and a driver "
    "that is not older than the CUPTI in use ('nvidia-smi' shows the driver).";
constexpr const char* kDriver =
    "CUPTI could not reach the CUDA driver, or finds it too old. Check that 'nvidia-smi' works here and update the driver, "
    "or set CUDA_HOME to the folder of an older CUDA Toolkit (12.6 or later).";
constexpr const char* kNotInitialized =
    "CUPTI could not reach the CUDA driver, or found no libnvperf_host.so. Check that 'nvidia-smi' works here, and that "
    "libnvperf_host.so lies in the folder of libcupti as well.";
constexpr const char* kVirtualized =
    "CUPTI cannot profile on this virtual GPU. Use a bare-metal machine or one that passes the GPU through whole.";
constexpr const char* kConfidential =
    "Confidential computing is on, which shuts the counters off. Profile on a machine, or in a virtual machine, without it.";
constexpr const char* kMig =
    "CUPTI cannot profile on this MIG instance. Use a GPU that is not split: an administrator turns MIG off with 'nvidia-smi "
    "-mig 0'.";
constexpr const char* kMining = "CUPTI does not support mining processors (CMP). Profile on another GPU.";
constexpr const char* kSli = "CUPTI cannot profile GPUs joined by SLI. Turn SLI off in the driver's settings.";
constexpr const char* kWsl =
    "Profiling under WSL needs a recent driver of Windows with counters opened to all users (NVIDIA Control Panel, Developer, "
    "Manage GPU Performance Counters), and may not be supported on this GPU; native Linux always works.";
constexpr const char* kMemory =
    "CUPTI ran out of memory. Leave some free on the host and on the GPU, or measure fewer metrics (--set quick).";
constexpr const char* kHardware =
    "The GPU's counter hardware reported a fault. See 'dmesg' for NVRM messages; resetting the GPU or rebooting usually clears "
    "it.";
constexpr const char* kMetric =
    "This chip has no such metric. 'dlkprof metrics --chip <chip> --query <regex>' lists those that it has.";
constexpr const char* kChip =
    "This CUPTI does not know the chip. Use one that is newer: set CUDA_HOME to the folder of a newer CUDA Toolkit.";
constexpr const char* kUnknown =
    "CUPTI gives no reason. Known causes are a driver older than CUPTI, another profiler on this GPU, and CUDA graphs in the "
    "program.";

}  // namespace

std::string remedy_for(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return kPermission;
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return kHypervisor;
    case CUPTI_ERROR_HARDWARE_BUSY:
      return kBusy;
    case CUPTI_ERROR_DISABLED:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return kSubscribed;
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return kOldApi;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
    case CUPTI_ERROR_INVALID_DEVICE:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
      return kUnsupported;
    case CUPTI_ERROR_NOT_INITIALIZED:
      return kNotInitialized;
    case CUPTI_ERROR_NOT_COMPATIBLE:
      return kDriver;
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return kVirtualized;
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return kConfidential;
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return kMig;
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
      return kMining;
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
      return kSli;
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return kWsl;
    case CUPTI_ERROR_OUT_OF_MEMORY:
      return kMemory;
    case CUPTI_ERROR_HARDWARE:
      return kHardware;
    case CUPTI_ERROR_INVALID_METRIC_ID:
    case CUPTI_ERROR_INVALID_METRIC_NAME:
      return kMetric;
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return kChip;
    case CUPTI_ERROR_UNKNOWN:
      return kUnknown;
    default:
      return "";  // a mistake in our own use of CUPTI, or about parts of it that dlkprof does not use
  }
}

}  // namespace dlkprof::cupti
