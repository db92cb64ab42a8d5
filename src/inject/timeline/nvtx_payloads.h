// NVTX's payload extension (nvtx3/nvToolsExtPayload.h, which toolkits before 13 may lack: hence its structs here). A program
// registers schemas, which say where in a payload what lies: of these only the size of NCCL's messages is kept. And it may open
// and close ranges with payloads, also those that were opened without one: NCCL closes its ncclCommInitRankConfig so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "inject/timeline/nvtx_module.h"

namespace dlkprof::inject {

inline constexpr std::uint16_t kPayloadModule = 2;
inline constexpr auto kExtendedPayload = static_cast<std::int32_t>(0xDFBD0009U);  // nvtxEventAttributes_t::payloadType

// nvtxExtModuleSegment_t and nvtxExtModuleInfo_t.
struct ExtensionSegment {
  std::size_t id, slots;
  std::intptr_t* functions;
};
struct ExtensionModule {
  std::uint16_t nvtx_version, struct_size, module, compatibility;
  std::size_t segment_count;
  ExtensionSegment* segments;
  void* get_export_function;
  const void* info;
};

// nvtxPayloadSchemaEntry_t, nvtxPayloadSchemaAttr_t and nvtxPayloadData_t.
struct PayloadEntry {
  std::uint64_t flags, type;
  const char *name, *description;
  std::uint64_t detail, offset;
  const void *semantics, *reserved;
};
struct PayloadSchema {
  std::uint64_t field_mask;
  const char* name;
  std::uint64_t type, flags;
  const PayloadEntry* entries;
  std::size_t entry_count, static_size, alignment;
  std::uint64_t id;
  void* extension;
};
struct PayloadData {
  std::uint64_t schema;
  std::size_t size;
  const void* bytes;
};

// What is to happen to ranges and marks that have nothing but payloads: nvtxMarkPayload, nvtxRangePushPayload and so on.
struct PayloadRanges {
  void (*mark)(nvtxDomainHandle_t, const PayloadData*, std::size_t count) noexcept = nullptr;
  int (*push)(nvtxDomainHandle_t, const PayloadData*, std::size_t count) noexcept = nullptr;
  int (*pop)(nvtxDomainHandle_t, const PayloadData*, std::size_t count) noexcept = nullptr;
  nvtxRangeId_t (*start)(nvtxDomainHandle_t, const PayloadData*, std::size_t count) noexcept = nullptr;
  void (*end)(nvtxDomainHandle_t, nvtxRangeId_t, const PayloadData*, std::size_t count) noexcept = nullptr;
};

// Puts our functions behind those of the payload extension, those of `ranges` where there are any. False for another extension,
// and for none.
bool attach_to_payloads(ExtensionModule* module, const PayloadRanges* ranges) noexcept;

// Of payloads, in bytes; none where no schema of their domain says where a size lies.
[[nodiscard]] std::optional<std::uint64_t> message_bytes(nvtxDomainHandle_t domain, const PayloadData* data,
                                                         std::size_t count) noexcept;
// Of an event with an extended payload.
[[nodiscard]] std::optional<std::uint64_t> message_bytes(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& event) noexcept;

}  // namespace dlkprof::inject
