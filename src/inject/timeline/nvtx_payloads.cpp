#include "inject/timeline/nvtx_payloads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

namespace dlkprof::inject {
namespace {

// As nvtx3/nvToolsExtPayload.h numbers functions, the types of entries and the fields of a schema.
constexpr std::size_t kRegisterSchema = 0, kMark = 2, kPush = 3, kPop = 4, kStart = 5, kEnd = 6, kIsEnabled = 7;
constexpr std::uint64_t kUint64 = 18, kSize = 22;
constexpr std::uint64_t kHasEntries = 1U << 4U, kHasEntryCount = 1U << 5U, kHasId = 1U << 8U;
constexpr std::uint64_t kFirstDynamicId = std::uint64_t{1} << 32U;

constexpr std::string_view kMessageSize = "Message size";  // [bytes]: nccl/src/include/nvtx_payload_schemas.h
constexpr std::size_t kMostEntries = 64, kMostPayloads = 8;

// Where the size of a message lies in payloads of a schema.
struct SizeField {
  nvtxDomainHandle_t domain = nullptr;
  std::uint64_t schema = 0;
  std::size_t offset = 0;
  std::atomic<bool> is_whole{false};
};

// Without locks: NVTX calls come from many threads, and from signal handlers amid others.
std::array<SizeField, 256> g_fields;
std::atomic<std::size_t> g_field_count{0};
std::atomic<std::uint64_t> g_next_id{kFirstDynamicId};

void add_field(nvtxDomainHandle_t domain, std::uint64_t schema, std::size_t offset) noexcept {
  if (g_field_count.load() >= g_fields.size()) return;  // later schemas stay unknown
  const std::size_t place = g_field_count.fetch_add(1);
  if (place >= g_fields.size()) return;
  SizeField& field = g_fields[place];
  field.domain = domain;
  field.schema = schema;
  field.offset = offset;
  field.is_whole.store(true, std::memory_order_release);
}

bool is_message_size(const PayloadEntry& entry, std::size_t place) noexcept {
  const bool is_whole = entry.type == kSize || entry.type == kUint64;
  return is_whole && entry.flags == 0 && entry.name != nullptr && (entry.offset != 0 || place == 0) &&
         std::strncmp(entry.name, kMessageSize.data(), kMessageSize.size()) == 0;
}

std::uint64_t register_schema(nvtxDomainHandle_t domain, const PayloadSchema* schema) noexcept {
  if (schema == nullptr) return 0;
  const std::uint64_t id = (schema->field_mask & kHasId) != 0 ? schema->id : g_next_id.fetch_add(1);
  constexpr std::uint64_t kNeeded = kHasEntries | kHasEntryCount;
  if ((schema->field_mask & kNeeded) != kNeeded || schema->entries == nullptr) return id;
  for (std::size_t i = 0; i < schema->entry_count && i < kMostEntries; ++i) {
    if (!is_message_size(schema->entries[i], i)) continue;
    add_field(domain, id, schema->entries[i].offset);
    break;
  }
  return id;
}

std::uint8_t is_enabled(nvtxDomainHandle_t /*domain*/) noexcept { return 1; }

std::optional<std::uint64_t> read_size(nvtxDomainHandle_t domain, const PayloadData& data) noexcept {
  for (std::size_t i = std::min(g_field_count.load(), g_fields.size()); i-- > 0;) {  // of several the newest
    const SizeField& field = g_fields[i];
    if (!field.is_whole.load(std::memory_order_acquire) || field.domain != domain) continue;
    if (field.schema != data.schema) continue;  // read last: payloads of other domains are not touched
    std::uint64_t bytes = 0;
    if (data.bytes == nullptr || data.size < sizeof(bytes) || field.offset > data.size - sizeof(bytes)) return std::nullopt;
    std::memcpy(&bytes, static_cast<const std::byte*>(data.bytes) + field.offset, sizeof(bytes));
    return bytes;
  }
  return std::nullopt;
}

}  // namespace

bool attach_to_payloads(ExtensionModule* module, const PayloadRanges* ranges) noexcept {
  if (module == nullptr || module->struct_size < sizeof(ExtensionModule) || module->module != kPayloadModule) return false;
  if (module->segment_count == 0 || module->segments == nullptr || module->segments->functions == nullptr) return false;
  const ExtensionSegment& segment = *module->segments;
  const auto put = [&segment](std::size_t index, auto function) {
    if (index < segment.slots) segment.functions[index] = reinterpret_cast<std::intptr_t>(function);
  };
  put(kRegisterSchema, register_schema);
  put(kIsEnabled, is_enabled);
  if (ranges == nullptr) return true;
  put(kMark, ranges->mark);
  put(kPush, ranges->push);
  put(kPop, ranges->pop);
  put(kStart, ranges->start);
  put(kEnd, ranges->end);
  return true;
}

std::optional<std::uint64_t> message_bytes(nvtxDomainHandle_t domain, const PayloadData* data, std::size_t count) noexcept {
  if (data == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < count && i < kMostPayloads; ++i) {
    if (const auto bytes = read_size(domain, data[i])) return bytes;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> message_bytes(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& event) noexcept {
  if (event.payloadType != kExtendedPayload || event.reserved0 <= 0) return std::nullopt;
  const auto* data = reinterpret_cast<const PayloadData*>(static_cast<std::uintptr_t>(event.payload.ullValue));  // NOLINT
  return message_bytes(domain, data, static_cast<std::size_t>(event.reserved0));
}

}  // namespace dlkprof::inject
