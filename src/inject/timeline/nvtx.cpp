#include "inject/timeline/nvtx.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/inline_text.h"
#include "inject/timeline/nvtx_module.h"
#include "inject/timeline/range_visit.h"
#include "inject/timeline/resource_names.h"

namespace dlkprof::inject {
namespace {

static_assert(Ranges::kNotTracked == NVTX_NO_PUSH_POP_TRACKING);

std::atomic<Ranges*> g_ranges{nullptr};

// Our functions are put into slots only after there are ranges, and there always are then.
Ranges& ranges() noexcept { return *g_ranges.load(std::memory_order_acquire); }
EventLog& event_log() noexcept { return ranges().log(); }

// --- Texts and handles ------------------------------------------------------------------------------------------------

enum class Use : std::uint8_t { name, message };

// Filters by ranges need the text again.
Use use_of_messages() noexcept { return ranges().scopes() != nullptr ? Use::name : Use::message; }

std::uint32_t number_of(std::string_view text, Use use) noexcept {
  return use == Use::name ? event_log().intern(text) : event_log().intern_passing(text);
}

std::uint32_t number_of(const char* text, Use use) noexcept {
  if (text == nullptr) return 0;
  return number_of(std::string_view(text, strnlen(text, EventLog::kMaxText + 1)), use);
}

std::uint32_t number_of(const wchar_t* text, Use use) noexcept {
  try {
    return number_of(to_utf8(text, EventLog::kMaxText + 1), use);
  } catch (...) {  // out of memory
    return 0;
  }
}

template <typename Handle>
Handle to_handle(std::uint32_t number) noexcept {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));  // NOLINT(performance-no-int-to-ptr): never followed
}

// 0 for handles that are not ours, as for null: the default domain, no text.
std::uint32_t from_handle(const void* handle) noexcept {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  return event_log().has_text(number) ? static_cast<std::uint32_t>(number) : 0;
}

[[gnu::always_inline]] inline std::string_view view_of(const char* text) noexcept {
  return text != nullptr ? std::string_view(text, inline_strnlen(text, EventLog::kMaxText + 1)) : std::string_view();
}

// --- Attributes -------------------------------------------------------------------------------------------------------

void read_message(const nvtxEventAttributes_t& event, RangeAttributes& attributes) noexcept {
  switch (event.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      attributes.message = view_of(event.message.ascii);
      return;
    case NVTX_MESSAGE_TYPE_UNICODE:
      attributes.name = number_of(event.message.unicode, use_of_messages());
      return;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      attributes.name = from_handle(event.message.registered);
      return;
    default:
      return;
  }
}

void set_bytes(RangeAttributes& attributes, std::optional<std::uint64_t> bytes) noexcept {
  if (!bytes) return;
  attributes.payload_type = capture::kMessageBytes;
  attributes.payload_bits = *bytes;
}

void read_payload(const nvtxEventAttributes_t& event, RangeAttributes& attributes) noexcept {
  switch (event.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
    case NVTX_PAYLOAD_TYPE_INT64:
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      attributes.payload_bits = event.payload.ullValue;
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
    case NVTX_PAYLOAD_TYPE_INT32:
    case NVTX_PAYLOAD_TYPE_FLOAT:
      attributes.payload_bits = event.payload.uiValue;
      break;
    default:
      return;  // none, or an extended one
  }
  attributes.payload_type = static_cast<std::uint8_t>(event.payloadType);
}

// The layout is the same in all versions so far; a later one may only be longer. What we cannot read still is a range, whose
// pop will come.
RangeAttributes read(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
  RangeAttributes attributes{.domain = from_handle(domain)};
  if (event == nullptr || event->version == 0 || event->size < NVTX_EVENT_ATTRIB_STRUCT_SIZE) return attributes;
  read_message(*event, attributes);
  attributes.category = event->category;
  event->payloadType == kExtendedPayload ? set_bytes(attributes, message_bytes(domain, *event))
                                         : read_payload(*event, attributes);
  return attributes;
}

// Texts in payloads stay unknown: it is a range without a name.
RangeAttributes read(nvtxDomainHandle_t domain, const PayloadData* data, std::size_t count) noexcept {
  RangeAttributes attributes{.domain = from_handle(domain)};
  set_bytes(attributes, message_bytes(domain, data, count));
  return attributes;
}

RangeAttributes read(const char* message) noexcept { return {.message = view_of(message)}; }
RangeAttributes read(const wchar_t* message) noexcept { return {.name = number_of(message, use_of_messages())}; }

// --- Facts ------------------------------------------------------------------------------------------------------------

// How python/ tells what it found out, as it has no other way to us: "dlkprof:fact: <source> <name> <value>" as a mark.
constexpr std::string_view kFactMark = "dlkprof:fact: ";

// Whether it was one, and is taken care of.
bool take_fact(const char* message) noexcept {
  if (message == nullptr || std::strncmp(message, kFactMark.data(), kFactMark.size()) != 0) return false;
  try {
    const std::string_view text(message + kFactMark.size(), strnlen(message + kFactMark.size(), EventLog::kMaxText));
    const std::size_t source = text.find(' ');
    const std::size_t name = source == text.npos ? text.npos : text.find(' ', source + 1);
    if (name == text.npos) return false;
    event_log().add(capture::Fact{std::string(text.substr(0, source)), std::string(text.substr(source + 1, name - source - 1)),
                                  std::string(text.substr(name + 1))});
  } catch (...) {  // out of memory: the fact is lost, the program is not
  }
  return true;
}

// --- Behind the calls -------------------------------------------------------------------------------------------------

// What act() gives; `otherwise` where a signal handler calls amid another call of its thread.
template <typename Value>
Value visiting(Value otherwise, const auto& act) noexcept {
  const Ranges::Visit visit(ranges());
  return visit ? act() : otherwise;
}
void visiting(const auto& act) noexcept {
  if (const Ranges::Visit visit(ranges()); visit) act();
}
int pushing(const auto& read_it) noexcept {
  Ranges::Visit visit(ranges());
  return visit ? visit.push(read_it()) : Ranges::kNotTracked;
}
int popping(const auto& read_domain) noexcept {
  Ranges::Visit visit(ranges());
  return visit ? visit.pop(read_domain()) : Ranges::kNotTracked;
}
nvtxRangeId_t starting(const auto& read_it) noexcept {
  Ranges::Visit visit(ranges());
  return visit ? visit.start(read_it()) : 0;
}

void mark_ascii(const char* message) noexcept {
  visiting([&] {
    if (!take_fact(message)) ranges().mark(read(message));
  });
}
void mark_wide(const wchar_t* message) noexcept {
  visiting([&] { ranges().mark(read(message)); });
}
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
  visiting([&] { ranges().mark(read(domain, event)); });
}
void mark_ex(const nvtxEventAttributes_t* event) noexcept { domain_mark(nullptr, event); }

[[gnu::hot]] int push(const char* message) noexcept { return ranges().push_text(view_of(message)); }
int push_filtered(const char* message) noexcept {
  return pushing([&] { return read(message); });
}
int push_wide(const wchar_t* message) noexcept {
  return pushing([&] { return read(message); });
}
int push_ex(const nvtxEventAttributes_t* event) noexcept {
  return pushing([&] { return read(nullptr, event); });
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
  return pushing([&] { return read(domain, event); });
}
[[gnu::hot]] int pop() noexcept { return ranges().pop(); }
int pop_filtered() noexcept {
  return popping([] { return 0U; });
}
int domain_pop(nvtxDomainHandle_t domain) noexcept {
  return popping([&] { return from_handle(domain); });
}

template <typename Character>
nvtxRangeId_t start(const Character* message) noexcept {
  return starting([&] { return read(message); });
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
  return starting([&] { return read(domain, event); });
}
nvtxRangeId_t start_ex(const nvtxEventAttributes_t* event) noexcept { return domain_start(nullptr, event); }
void end(nvtxRangeId_t range) noexcept {
  if (Ranges::Visit visit(ranges()); visit) visit.end(range);
}
void domain_end(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t range) noexcept { end(range); }  // the number says all

void mark_payload(nvtxDomainHandle_t domain, const PayloadData* data, std::size_t count) noexcept {
  visiting([&] { ranges().mark(read(domain, data, count)); });
}
int push_payload(nvtxDomainHandle_t domain, const PayloadData* data, std::size_t count) noexcept {
  return pushing([&] { return read(domain, data, count); });
}
int pop_payload(nvtxDomainHandle_t domain, const PayloadData* /*data*/, std::size_t /*count*/) noexcept {
  return domain_pop(domain);
}
nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, const PayloadData* data, std::size_t count) noexcept {
  return starting([&] { return read(domain, data, count); });
}
void end_payload(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t range, const PayloadData* /*data*/,
                 std::size_t /*count*/) noexcept {
  end(range);
}

template <typename Character>
nvtxDomainHandle_t create_domain(const Character* name) noexcept {
  return to_handle<nvtxDomainHandle_t>(visiting(0U, [&] { return number_of(name, Use::name); }));
}
void destroy_domain(nvtxDomainHandle_t /*domain*/) noexcept {}  // its ranges may still be open

template <typename Character>
nvtxStringHandle_t register_string(nvtxDomainHandle_t /*domain*/, const Character* text) noexcept {
  return to_handle<nvtxStringHandle_t>(visiting(0U, [&] { return number_of(text, Use::name); }));
}

std::string text_of(const char* text) { return text != nullptr ? text : ""; }
std::string text_of(const wchar_t* text) { return to_utf8(text, EventLog::kMaxText); }

void add_name(const auto& make_fact) noexcept {
  visiting([&] {
    try {
      event_log().add(make_fact());
    } catch (...) {  // out of memory: the name is lost, the program is not
    }
  });
}
template <typename Character>
void name_domain_category(nvtxDomainHandle_t domain, std::uint32_t category, const Character* name) noexcept {
  add_name([&] {
    const std::string of = event_log().text_of(from_handle(domain));
    return capture::Fact{"nvtx", "category " + std::to_string(category) + (of.empty() ? "" : " of " + of), text_of(name)};
  });
}
template <typename Character>
void name_category(std::uint32_t category, const Character* name) noexcept {
  name_domain_category(nullptr, category, name);
}
template <typename Character>
void name_thread(std::uint32_t thread, const Character* name) noexcept {
  add_name([&] { return capture::Fact{"nvtx", "thread " + std::to_string(thread), text_of(name)}; });
}

// --- Attaching --------------------------------------------------------------------------------------------------------

void attach_core(NvtxExportTable export_table) {
  const bool filters = ranges().scopes() != nullptr;
  NvtxModule core(export_table, NVTX_CB_MODULE_CORE);
  core.put<nvtxMarkEx_impl_fntype>(NVTX_CBID_CORE_MarkEx, mark_ex);
  core.put<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA, mark_ascii);
  core.put<nvtxMarkW_impl_fntype>(NVTX_CBID_CORE_MarkW, mark_wide);
  core.put<nvtxRangeStartEx_impl_fntype>(NVTX_CBID_CORE_RangeStartEx, start_ex);
  core.put<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA, start);
  core.put<nvtxRangeStartW_impl_fntype>(NVTX_CBID_CORE_RangeStartW, start);
  core.put<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd, end);
  core.put<nvtxRangePushEx_impl_fntype>(NVTX_CBID_CORE_RangePushEx, push_ex);
  core.put<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA, filters ? push_filtered : push);
  core.put<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW, push_wide);
  core.put<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop, filters ? pop_filtered : pop);
  core.put<nvtxNameCategoryA_impl_fntype>(NVTX_CBID_CORE_NameCategoryA, name_category);
  core.put<nvtxNameCategoryW_impl_fntype>(NVTX_CBID_CORE_NameCategoryW, name_category);
  core.put<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA, name_thread);
  core.put<nvtxNameOsThreadW_impl_fntype>(NVTX_CBID_CORE_NameOsThreadW, name_thread);
}

void attach_domains(NvtxExportTable export_table) {
  NvtxModule core2(export_table, NVTX_CB_MODULE_CORE2);
  core2.put<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  core2.put<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  core2.put<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  core2.put<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  core2.put<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  core2.put<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA, name_domain_category);
  core2.put<nvtxDomainNameCategoryW_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryW, name_domain_category);
  core2.put<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  core2.put<nvtxDomainRegisterStringW_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringW, register_string);
  core2.put<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  core2.put<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW, create_domain);
  core2.put<nvtxDomainDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainDestroy, destroy_domain);
}

}  // namespace

void record_ranges(Ranges* ranges) noexcept { g_ranges.store(ranges, std::memory_order_release); }

void attach_to_nvtx(const void* (*export_table)(std::uint32_t), bool resource_names) {
  if (resource_names) listen_to_names(export_table);
  if (g_ranges.load(std::memory_order_acquire) == nullptr) return;
  attach_core(export_table);
  attach_domains(export_table);
}

bool attach_to_extension(ExtensionModule* module) noexcept {
  constexpr PayloadRanges kRanges{
      .mark = mark_payload, .push = push_payload, .pop = pop_payload, .start = start_payload, .end = end_payload};
  return attach_to_payloads(module, g_ranges.load(std::memory_order_acquire) != nullptr ? &kRanges : nullptr);
}

}  // namespace dlkprof::inject
