// The program's side of the extension is real where the toolkit has it: its header finds our entry as one linked into the
// program.
#if __has_include(<nvtx3/nvToolsExtPayload.h>)

#include <cstdint>

struct nvtxExtModuleInfo_t;
extern "C" {
extern int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t));
extern int (*InitializeInjectionNvtxExtension_fnptr)(nvtxExtModuleInfo_t*);
}
#ifndef NVTX_STATIC_INJECTION_IMPL
#define NVTX_STATIC_INJECTION_IMPL
#endif
#include <nvtx3/nvToolsExtPayload.h>  // before ours, which take its types alone

#include "inject/timeline/nvtx_payloads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace dlkprof::inject::nvtx_payloads_test {
namespace {

// As NCCL has it.
struct AllReduce {
  std::uint64_t communicator;
  std::size_t bytes;
  int operation;
};

const std::vector<nvtxPayloadSchemaEntry_t>& entries() {
  static const std::vector<nvtxPayloadSchemaEntry_t> kEntries{
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, offsetof(AllReduce, communicator), nullptr,
       nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, offsetof(AllReduce, bytes), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Reduction operation", nullptr, 0, offsetof(AllReduce, operation), nullptr, nullptr}};
  return kEntries;
}

// A schema of the id given, or of one that it gets.
std::uint64_t registered(nvtxDomainHandle_t domain, std::uint64_t id, const std::vector<nvtxPayloadSchemaEntry_t>& of) {
  unsetenv("NVTX_INJECTION64_PATH");  // else NVTX would take the one named there
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | (id != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
  schema.entries = of.data();
  schema.numEntries = of.size();
  schema.payloadStaticSize = sizeof(AllReduce);
  schema.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

std::optional<std::uint64_t> bytes_of(nvtxDomainHandle_t domain, std::vector<nvtxPayloadData_t> data) {
  nvtxEventAttributes_t event{};
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = static_cast<std::int32_t>(data.size());
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(data.data());
  return message_bytes(domain, event);
}

nvtxDomainHandle_t domain(std::uintptr_t number) { return reinterpret_cast<nvtxDomainHandle_t>(number); }  // NOLINT

TEST(NvtxPayloads, SayTheSizeOfMessages) {
  const std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7;
  EXPECT_EQ(registered(domain(3), id, entries()), id);
  const AllReduce payload{11, 4'194'304, 0};
  const nvtxPayloadData_t data{id, sizeof(payload), &payload};
  EXPECT_EQ(bytes_of(domain(3), {data}), 4'194'304U);
  EXPECT_EQ(bytes_of(domain(3), {{id + 1, sizeof(payload), &payload}, data}), 4'194'304U) << "the second of two";
  EXPECT_EQ(bytes_of(domain(4), {data}), std::nullopt) << "ids are of a domain";
  EXPECT_NE(nvtxDomainIsEnabled(domain(3)), 0);
}

TEST(NvtxPayloads, GiveIdsToSchemasWithoutOne) {
  const std::uint64_t first = registered(domain(5), 0, entries()), second = registered(domain(5), 0, entries());
  EXPECT_GE(first, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  EXPECT_NE(first, second);
  const AllReduce payload{11, 512, 0};
  EXPECT_EQ(bytes_of(domain(5), {{second, sizeof(payload), &payload}}), 512U);
}

TEST(NvtxPayloads, AreNotReadBeyondTheirEnd) {
  const std::uint64_t id = registered(domain(6), 0, entries());
  const AllReduce payload{11, 512, 0};
  EXPECT_EQ(bytes_of(domain(6), {{id, offsetof(AllReduce, bytes) + 7, &payload}}), std::nullopt);
  EXPECT_EQ(bytes_of(domain(6), {{id, 0, &payload}}), std::nullopt);
  EXPECT_EQ(bytes_of(domain(6), {{id, sizeof(payload), nullptr}}), std::nullopt);
  EXPECT_EQ(bytes_of(domain(6), {}), std::nullopt);
  const nvtxEventAttributes_t none{};
  EXPECT_EQ(message_bytes(domain(6), none), std::nullopt);
}

TEST(NvtxPayloads, OfADomainWithoutSchemasAreNotTouched) {
  nvtxEventAttributes_t event{};
  event.payloadType = kExtendedPayload;
  event.reserved0 = 1;
  event.payload.ullValue = 8;  // an address of nothing
  EXPECT_EQ(message_bytes(domain(8), event), std::nullopt);
}

TEST(NvtxPayloads, OfOtherThingsAreUnknown) {
  std::vector<nvtxPayloadSchemaEntry_t> others = entries();
  others[1].name = "Bytes";
  const AllReduce payload{11, 512, 0};
  EXPECT_EQ(bytes_of(domain(7), {{registered(domain(7), 0, others), sizeof(payload), &payload}}), std::nullopt);
  others[1].name = "Message size [bytes]";
  others[1].flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER;
  EXPECT_EQ(bytes_of(domain(7), {{registered(domain(7), 0, others), sizeof(payload), &payload}}), std::nullopt);
  EXPECT_EQ(nvtxPayloadSchemaRegister(domain(7), nullptr), 0U);
}

TEST(NvtxPayloads, LeaveOtherExtensionsAlone) {
  EXPECT_FALSE(attach_to_payloads(nullptr, nullptr));
  ExtensionModule module{};
  module.struct_size = sizeof(module);
  module.module = kPayloadModule;
  EXPECT_FALSE(attach_to_payloads(&module, nullptr)) << "it has no functions";
  std::intptr_t function = 0;
  ExtensionSegment segment{0, 1, &function};
  module.segment_count = 1;
  module.segments = &segment;
  EXPECT_TRUE(attach_to_payloads(&module, nullptr)) << "an older one, with fewer functions";
  EXPECT_NE(function, 0);
  module.module = kPayloadModule + 1;
  EXPECT_FALSE(attach_to_payloads(&module, nullptr));
}

}  // namespace

int attach(nvtxExtModuleInfo_t* module) {
  static_assert(sizeof(ExtensionModule) == sizeof(nvtxExtModuleInfo_t) && sizeof(PayloadData) == sizeof(nvtxPayloadData_t) &&
                sizeof(PayloadEntry) == sizeof(nvtxPayloadSchemaEntry_t) &&
                sizeof(PayloadSchema) == sizeof(nvtxPayloadSchemaAttr_t));
  auto* const ours = reinterpret_cast<ExtensionModule*>(module);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  return attach_to_payloads(ours, nullptr) ? 1 : 0;
}

}  // namespace dlkprof::inject::nvtx_payloads_test

extern "C" {
int (*InitializeInjectionNvtxExtension_fnptr)(nvtxExtModuleInfo_t*) = &dlkprof::inject::nvtx_payloads_test::attach;
}

#endif
