// What NCCL says of its messages by NVTX's payload extension (nvtx3/nvToolsExtPayload.h, which toolkits before 13 may lack: hence
// its structs here). A program registers schemas, which say where in a payload what lies. Of these only the size of messages is
// kept.
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

// Puts our functions behind those of the payload extension. False for another extension, and for none.
bool attach_to_payloads(ExtensionModule* module) noexcept;

// Of an event with an extended payload, in bytes; none where no schema of its domain says where its size lies.
[[nodiscard]] std::optional<std::uint64_t> message_bytes(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& event) noexcept;

}  // namespace dlkprof::inject
