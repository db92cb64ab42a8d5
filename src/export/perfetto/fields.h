// The numbers of the fields that a trace is written with, as the protos of Perfetto publish them (protos/perfetto/trace, read at
// ec5d16b of 2026-08-22). A name says message and field.
#pragma once

#include <cstdint>

namespace dlkprof::exports::perfetto {

using Field = std::uint32_t;

inline constexpr Field kTracePacket = 1;

// TracePacket
inline constexpr Field kPacketClockSnapshot = 6, kPacketTimestamp = 8, kPacketSequence = 10, kPacketTrackEvent = 11,
                       kPacketInternedData = 12, kPacketSequenceFlags = 13, kPacketGpuCounterEvent = 52,
                       kPacketGpuRenderStageEvent = 53, kPacketTrackDescriptor = 60, kPacketGpuInfo = 128;
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // SequenceFlags

// ClockSnapshot
inline constexpr Field kSnapshotClock = 1, kSnapshotPrimary = 2, kClockId = 1, kClockTimestamp = 2;
inline constexpr std::uint64_t kRealtime = 1, kMonotonic = 3, kBoottime = 6;  // BuiltinClock

// TrackDescriptor and what is in it
inline constexpr Field kTrackUuid = 1, kTrackName = 2, kTrackProcess = 3, kTrackThread = 4, kTrackParent = 5, kTrackCounter = 8,
                       kTrackDescription = 14;
inline constexpr Field kProcessPid = 1, kProcessName = 6;
inline constexpr Field kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
inline constexpr Field kCounterUnitName = 6, kCounterShareKey = 7;

// TrackEvent
inline constexpr Field kEventCategory = 3, kEventAnnotation = 4, kEventType = 9, kEventNameId = 10, kEventTrack = 11,
                       kEventName = 23, kEventDoubleValue = 44, kEventGpuCorrelation = 3000, kEventGpuApi = 3001;
inline constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterValue = 4;  // Type
inline constexpr Field kCorrelationSubmitted = 1;
inline constexpr std::uint64_t kCuda = 4;  // of GpuApi and of InternedGraphicsContext.Api

// DebugAnnotation
inline constexpr Field kAnnotationNameId = 1, kAnnotationUint = 3, kAnnotationTextId = 17;

// InternedData
inline constexpr Field kInternedCategory = 1, kInternedEventName = 2, kInternedAnnotationName = 3, kInternedContext = 23,
                       kInternedSpecification = 24, kInternedText = 29, kInternedCounters = 47, kInternedKernel = 1000,
                       kInternedArgName = 1001;
inline constexpr Field kIid = 1, kInternedValue = 2;
inline constexpr Field kContextPid = 2, kContextApi = 3;
inline constexpr Field kSpecificationName = 2, kSpecificationCategory = 4;
inline constexpr std::uint64_t kCategoryOther = 0, kCategoryCompute = 2;  // RenderStageCategory
inline constexpr Field kKernelName = 2, kKernelDemangled = 3, kKernelArch = 4, kKernelArg = 5;
inline constexpr Field kCountersDescriptor = 2, kCountersGpu = 3;

// GpuRenderStageEvent
inline constexpr Field kStageEventId = 1, kStageDuration = 2, kStageContext = 5, kStageExtraData = 6, kStageGpu = 11,
                       kStageQueue = 13, kStageStage = 14, kStageKernel = 19, kStageNameId = 20, kStageLaunch = 21;
inline constexpr Field kLaunchGrid = 1, kLaunchBlock = 2, kLaunchArg = 3;
inline constexpr Field kDimX = 1, kDimY = 2, kDimZ = 3;
inline constexpr Field kArgNameId = 1, kArgUint = 4, kArgDouble = 5, kArgText = 6, kArgTextId = 7;
inline constexpr Field kExtraName = 1, kExtraValue = 2;

// GpuCounterEvent and GpuCounterDescriptor
inline constexpr Field kCounterEventCounter = 2, kCounterEventGpu = 3, kCounterEventDescriptorId = 4;
inline constexpr Field kCounterId = 1, kCounterDouble = 3;
inline constexpr Field kDescriptorSpec = 1, kDescriptorGroup = 6;
inline constexpr Field kSpecId = 1, kSpecName = 2, kSpecNumerator = 7, kSpecDenominator = 8, kSpecGroup = 10, kSpecDirection = 11;
inline constexpr std::uint64_t kForwardsLooking = 2, kGroupCompute = 6;
inline constexpr std::uint64_t kUnitNone = 0, kUnitByte = 7, kUnitHertz = 13, kUnitNanosecond = 19, kUnitSecond = 22,
                               kUnitPercent = 37, kUnitInstruction = 40;  // MeasureUnit
inline constexpr Field kGroupId = 1, kGroupName = 2, kGroupDescription = 3, kGroupCounter = 4;

// GpuInfo
inline constexpr Field kGpuInfoGpu = 1, kGpuName = 1, kGpuVendor = 2, kGpuModel = 3, kGpuArchitecture = 4, kGpuPciBdf = 7;

}  // namespace dlkprof::exports::perfetto
