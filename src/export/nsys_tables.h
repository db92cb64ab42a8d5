// The tables of an export of Nsight Systems to SQLite (nsys export --type sqlite, schema 3.x), as far as its readers look at
// them.
#pragma once

#include <array>
#include <cstdint>

namespace dlkprof::exports::nsys {

inline constexpr const char* kSchemaVersion = "3.25.0";

struct Table {
  const char* name;
  const char* columns;  // with their types, as CREATE TABLE has them
};

inline constexpr std::array kTables{
    Table{"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT"},
    Table{"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"},
    Table{"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT"},
    Table{"TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT"},
    Table{"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"},
    Table{"ThreadNames", "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER"},
    Table{"TARGET_INFO_GPU",
          "vmId INTEGER, id INTEGER, name TEXT, busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, "
          "memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT, luid INTEGER, chipName TEXT, "
          "computeMajor INTEGER, computeMinor INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, "
          "maxThreadsPerBlock INTEGER, maxRegistersPerBlock INTEGER, maxRegistersPerSm INTEGER, maxShmemPerBlock INTEGER, "
          "maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER"},
    Table{"TARGET_INFO_CUDA_DEVICE",
          "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT, "
          "numMultiprocessors INTEGER NOT NULL"},
    Table{"CUPTI_ACTIVITY_KIND_RUNTIME",
          "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
          "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER"},
    Table{"CUPTI_ACTIVITY_KIND_KERNEL",
          "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
          "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
          "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
          "cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, "
          "gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
          "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, "
          "localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
          "sharedMemoryLimitConfig INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER"},
    Table{"CUPTI_ACTIVITY_KIND_MEMCPY",
          "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
          "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, "
          "copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER"},
    Table{"CUPTI_ACTIVITY_KIND_MEMSET",
          "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
          "greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, "
          "bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER"},
    Table{"NVTX_EVENTS",
          "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, "
          "text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER"}};

// Launches that were being measured have no time on the GPU, which CUPTI_ACTIVITY_KIND_KERNEL demands. Where there are some,
// dlkprof writes them to a table of its own with the same columns; other readers pass it over.
inline constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr const char* kUntimedKernels = "DLKPROF_LAUNCH_WITHOUT_TIME";

// NVTX_EVENTS.eventType
inline constexpr std::int64_t kMark = 34, kPushPop = 59, kStartEnd = 60, kDomain = 75;
// CUPTI_ACTIVITY_KIND_RUNTIME.eventClass
inline constexpr std::int64_t kDriverCall = 1;

// A process is 24 bits of globalPid and globalTid, from bit 24 on, beneath it the thread.
inline constexpr unsigned kPidShift = 24;
inline constexpr std::uint64_t kIdMask = (std::uint64_t{1} << kPidShift) - 1;
[[nodiscard]] constexpr std::uint32_t pid_of(std::int64_t global) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(global) >> kPidShift & kIdMask);
}
[[nodiscard]] constexpr std::uint32_t tid_of(std::int64_t global) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(global) & kIdMask);
}
[[nodiscard]] constexpr std::int64_t global_id(std::uint32_t pid, std::uint32_t tid = 0) {
  return static_cast<std::int64_t>((pid & kIdMask) << kPidShift | (tid & kIdMask));
}

}  // namespace dlkprof::exports::nsys
