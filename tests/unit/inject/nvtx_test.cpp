// The program's side of NVTX is real here: its header finds our entry as one that is linked into the program.
#include <cstdint>

extern "C" {
extern int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t));
}
#define NVTX_STATIC_INJECTION_IMPL
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstdlib>

#include "inject/timeline/nvtx.h"
#include "inject/timeline/resource_names.h"
#include "unit/inject/captured_log.h"

namespace dlkprof::inject::nvtx_test {
namespace {

using capture::RangeEvent;
using capture::RangeKind;
using test::on_other_thread;
using testing::Contains;
using testing::Each;
using testing::SizeIs;

// What a session has; it stays, as the functions behind NVTX do.
struct World {
  test::CapturedLog captured;
  Ranges ranges{captured.log(), captured.recorder()};

  World() {
    unsetenv("NVTX_INJECTION64_PATH");  // else NVTX would take the one named there
    captured.open();
    record_ranges(&ranges);
  }
};

World& world() {
  static World world;
  return world;
}

int attach(const void* (*export_table)(std::uint32_t)) noexcept {
  (void)world();
  attach_to_nvtx(export_table, false);
  return 1;
}

nvtxEventAttributes_t attributes() {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return event;
}

nvtxEventAttributes_t with_message(const char* message) {
  auto event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  return event;
}

// The range or mark of that message.
RangeEvent find(const std::string& message) {
  const auto written = world().captured.flushed();
  for (const auto& range : written.ranges) {
    if (written.text(range.name) == message) return range;
  }
  ADD_FAILURE() << "no range " << message;
  return {};
}

std::string domain_of(const RangeEvent& range) { return world().captured.flushed().text(range.domain); }

TEST(Nvtx, MarksOfOurOwnAreFacts) {
  nvtxMarkA("dlkprof:fact: pytorch cudnn.benchmark false or so");
  nvtxMarkA("dlkprof:fact: malformed");
  const auto written = world().captured.flushed();
  EXPECT_THAT(written.facts, Contains(capture::Fact{"pytorch", "cudnn.benchmark", "false or so"}));
  EXPECT_EQ(find("dlkprof:fact: malformed").kind, RangeKind::mark) << "what is none stays what the program said";
  for (const auto& range : written.ranges)
    EXPECT_NE(written.text(range.name), "dlkprof:fact: pytorch cudnn.benchmark false or so");
}

TEST(Nvtx, PushAndPopGiveTheLevel) {
  EXPECT_EQ(nvtxRangePushA("push A"), 0);
  EXPECT_EQ(nvtxRangePushW(L"push W \u00e4\u20ac\U0001f600"), 1);
  const auto event = with_message("push Ex");
  EXPECT_EQ(nvtxRangePushEx(&event), 2);
  EXPECT_EQ(nvtxRangePop(), 2);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_EQ(nvtxRangePop(), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(find("push A").domain, 0U);
  EXPECT_EQ(find("push W \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80").parent, find("push A").id);
  EXPECT_EQ(find("push Ex").kind, RangeKind::push_pop);
}

TEST(Nvtx, DomainsHaveStacksOfTheirOwn) {
  auto* const tsl = nvtxDomainCreateA("TSL");
  auto* const wide = nvtxDomainCreateW(L"d\u00f6main");
  ASSERT_NE(tsl, nullptr);
  EXPECT_EQ(nvtxDomainCreateA("TSL"), tsl) << "as another library would make it";
  const auto outer = with_message("of TSL"), inner = with_message("of wide");
  EXPECT_EQ(nvtxDomainRangePushEx(tsl, &outer), 0);
  EXPECT_EQ(nvtxDomainRangePushEx(wide, &inner), 0);
  EXPECT_EQ(nvtxRangePop(), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(nvtxDomainRangePop(tsl), 0);
  nvtxDomainDestroy(wide);
  EXPECT_EQ(nvtxDomainRangePop(wide), 0) << "what was opened can be closed";
  EXPECT_EQ(domain_of(find("of TSL")), "TSL");
  EXPECT_EQ(domain_of(find("of wide")), "d\xc3\xb6main");
}

TEST(Nvtx, StartedRangesCrossThreads) {
  auto* const domain = nvtxDomainCreateA("tensorflow-core");
  const auto event = with_message("start Ex");
  const std::array<nvtxRangeId_t, 4> started{nvtxRangeStartA("start A"), nvtxRangeStartW(L"start W"), nvtxRangeStartEx(&event),
                                             nvtxDomainRangeStartEx(domain, &event)};
  EXPECT_THAT(started, Each(testing::Ne(0U)));
  on_other_thread([&] {
    nvtxRangeEnd(started[0]);
    nvtxRangeEnd(started[1]);
    nvtxDomainRangeEnd(domain, started[2]);
    nvtxDomainRangeEnd(domain, started[3]);
    nvtxRangeEnd(started[3]);
    nvtxRangeEnd(0);
  });
  EXPECT_EQ(current_range(), 0U);
  EXPECT_EQ(find("start A").kind, RangeKind::start_end);
  EXPECT_EQ(find("start W").parent, find("start A").id);
  EXPECT_THAT(world().captured.flushed().of_domain("tensorflow-core"), SizeIs(1));
}

TEST(Nvtx, Marks) {
  auto* const domain = nvtxDomainCreateA("marks");
  const auto event = with_message("mark Ex"), other = with_message("domain mark");
  nvtxMarkA("mark A");
  nvtxMarkW(L"mark W");
  nvtxMarkEx(&event);
  nvtxDomainMarkEx(domain, &other);
  for (const auto* message : {"mark A", "mark W", "mark Ex", "domain mark"}) EXPECT_EQ(find(message).kind, RangeKind::mark);
  EXPECT_EQ(domain_of(find("domain mark")), "marks");
}

TEST(Nvtx, RegisteredStrings) {
  auto* const domain = nvtxDomainCreateA("registered");
  auto event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  for (auto* const handle :
       {nvtxDomainRegisterStringA(domain, "registered A"), nvtxDomainRegisterStringW(nullptr, L"registered W")}) {
    ASSERT_NE(handle, nullptr);
    event.message.registered = handle;
    nvtxDomainMarkEx(domain, &event);
  }
  EXPECT_EQ(domain_of(find("registered A")), "registered");
  EXPECT_EQ(domain_of(find("registered W")), "registered");
}

TEST(Nvtx, CategoriesAndPayloads) {
  auto event = with_message("int64");
  event.category = 77;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = -2;
  nvtxMarkEx(&event);
  EXPECT_EQ(find("int64").category, 77U);
  EXPECT_EQ(find("int64").payload_type, NVTX_PAYLOAD_TYPE_INT64);
  EXPECT_EQ(find("int64").payload_bits, ~std::uint64_t{1});

  event = with_message("float");
  event.payload.ullValue = ~0ULL;  // what lies beyond the float is none of its value
  event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  event.payload.fValue = 1.0F;
  nvtxMarkEx(&event);
  EXPECT_EQ(find("float").payload_bits, 0x3f800000U);
}

TEST(Nvtx, PayloadsOfASchemaAreLeftAside) {
  const std::array<std::uint64_t, 3> data{};
  auto event = with_message("schema");
  event.payloadType = static_cast<std::int32_t>(0xDFBD0009);  // NVTX_PAYLOAD_TYPE_EXT of nvToolsExtPayload.h
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(data.data());
  EXPECT_EQ(nvtxRangePushEx(&event), 0);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_EQ(find("schema").payload_type, 0U);
  EXPECT_EQ(find("schema").payload_bits, 0U);
}

TEST(Nvtx, WhatCannotBeReadStillIsARange) {
  auto* const domain = nvtxDomainCreateA("unreadable");
  const char* const no_text = nullptr;
  auto old = with_message("never shown"), wrong_type = attributes(), no_message = with_message(no_text);
  old.size = 16;
  wrong_type.messageType = 99;
  wrong_type.message.ascii = reinterpret_cast<const char*>(8);
  auto no_version = with_message("never shown");
  no_version.version = 0;
  const std::array<const nvtxEventAttributes_t*, 5> all{nullptr, &old, &wrong_type, &no_message, &no_version};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(nvtxDomainRangePushEx(domain, all[i]), static_cast<int>(i));
  for (std::size_t i = all.size(); i-- > 0;) EXPECT_EQ(nvtxDomainRangePop(domain), static_cast<int>(i));
  EXPECT_EQ(nvtxRangePushA(nullptr), 0);
  EXPECT_EQ(nvtxRangePushW(nullptr), 1);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxRangePop(), 0);

  const auto found = world().captured.flushed().of_domain("unreadable");
  ASSERT_THAT(found, SizeIs(all.size()));
  for (const auto& range : found) EXPECT_EQ(range.name, 0U);
}

TEST(Nvtx, HandlesThatAreNotOursDoNoHarm) {
  int local = 0;
  for (const auto address : {reinterpret_cast<std::uintptr_t>(&local), ~std::uintptr_t{0}, std::uintptr_t{1} << 40U}) {
    auto event = with_message("strange domain");
    auto* const domain = reinterpret_cast<nvtxDomainHandle_t>(address);
    EXPECT_EQ(nvtxDomainRangePushEx(domain, &event), 0);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = reinterpret_cast<nvtxStringHandle_t>(address);
    nvtxDomainMarkEx(domain, &event);
    EXPECT_EQ(nvtxDomainRangePop(domain), 0);
  }
  EXPECT_EQ(find("strange domain").domain, 0U);
}

TEST(Nvtx, BytesAreKeptAndWideTextIsMadeUtf8) {
  nvtxMarkA("bytes \xff\x01");
  const wchar_t wide[] = {L'w', wchar_t{0xd800}, wchar_t{0x110000}, wchar_t{-1}, L'!', L'\0'};
  nvtxMarkW(wide);
  EXPECT_EQ(find("bytes \xff\x01").kind, RangeKind::mark);
  EXPECT_EQ(find("w\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!").kind, RangeKind::mark);
}

TEST(Nvtx, NamesAreFacts) {
  auto* const domain = nvtxDomainCreateA("named");
  nvtxNameCategoryA(3, "memory");
  nvtxDomainNameCategoryW(domain, 4, L"copies");
  nvtxNameOsThreadA(1234, "loader");
  nvtxNameOsThreadW(1235, nullptr);
  const auto facts = world().captured.flushed().facts;
  EXPECT_THAT(facts, Contains(capture::Fact{"nvtx", "category 3", "memory"}));
  EXPECT_THAT(facts, Contains(capture::Fact{"nvtx", "category 4 of named", "copies"}));
  EXPECT_THAT(facts, Contains(capture::Fact{"nvtx", "thread 1234", "loader"}));
  EXPECT_THAT(facts, Contains(capture::Fact{"nvtx", "thread 1235", ""}));
}

// --- NVTX instances as other libraries of the process have them -------------------------------------------------------

// An NVTX instance: slots, and the tables that lead to them. A C function finds the one that is being attached.
class Instance {
 public:
  static constexpr unsigned kMost = 20;

  // `slots` of each module, the first of which is never one.
  explicit Instance(unsigned slots = kMost) : size_(slots) {
    for (std::size_t m = 0; m < functions_.size(); ++m) {
      for (unsigned i = 1; i < kMost; ++i) pointers_[m][i] = &functions_[m][i];
    }
  }
  void attach(bool resource_names = false) {
    attaching = this;
    attach_to_nvtx(&export_table, resource_names);
  }
  template <typename Function>
  Function get(NvtxCallbackModule module, unsigned index) const {
    return reinterpret_cast<Function>(functions_[module][index]);
  }
  [[nodiscard]] int taken(NvtxCallbackModule module) const {
    return static_cast<int>(
        std::count_if(functions_[module].begin(), functions_[module].end(), [](auto f) { return f != nullptr; }));
  }
  NvtxExportTableCallbacks callbacks{sizeof(NvtxExportTableCallbacks), &module_functions};

 private:
  static inline Instance* attaching = nullptr;

  static const void* export_table(std::uint32_t id) { return id == NVTX_ETID_CALLBACKS ? &attaching->callbacks : nullptr; }
  static int module_functions(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
    if (attaching->size_ == 0) return 0;
    *table = attaching->pointers_.at(module).data();
    *size = attaching->size_;
    return 1;
  }

  unsigned size_;
  std::array<std::array<NvtxFunctionPointer, kMost>, NVTX_CB_MODULE_SIZE> functions_{};
  std::array<std::array<NvtxFunctionPointer*, kMost>, NVTX_CB_MODULE_SIZE> pointers_{};
};

TEST(NvtxInstances, ShareOneState) {
  (void)world();
  Instance one, two;
  one.attach();
  two.attach();
  EXPECT_EQ(one.get<nvtxRangePushA_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA)("one's"), 0);
  EXPECT_EQ(two.get<nvtxRangePushA_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePushA)("two's"), 1);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(one.get<nvtxRangePop_impl_fntype>(NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_RangePop)(), 0);
  auto* const domain = two.get<nvtxDomainCreateA_impl_fntype>(NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_DomainCreateA)("shared");
  EXPECT_EQ(nvtxDomainCreateA("shared"), domain);
  EXPECT_EQ(find("two's").parent, find("one's").id);
}

TEST(NvtxInstances, SlotsStayUntouchedWhereRangesAreNotWanted) {
  record_ranges(nullptr);
  Instance instance;
  instance.attach();
  for (const auto module : {NVTX_CB_MODULE_CORE, NVTX_CB_MODULE_CORE2, NVTX_CB_MODULE_CUDA, NVTX_CB_MODULE_CUDART}) {
    EXPECT_EQ(instance.taken(module), 0);
  }
  record_ranges(&world().ranges);
  instance.attach();
  EXPECT_EQ(instance.taken(NVTX_CB_MODULE_CORE), 15);
  EXPECT_EQ(instance.taken(NVTX_CB_MODULE_CORE2), 12);
  EXPECT_EQ(instance.taken(NVTX_CB_MODULE_CUDA), 0);
}

TEST(NvtxInstances, OlderOnesMayLackFunctions) {
  (void)world();
  Instance none(0), few(NVTX_CBID_CORE_RangePushA), wrong;
  none.attach();
  few.attach();
  wrong.callbacks.struct_size = 4;
  wrong.attach();
  EXPECT_EQ(none.taken(NVTX_CB_MODULE_CORE), 0);
  EXPECT_EQ(few.taken(NVTX_CB_MODULE_CORE), NVTX_CBID_CORE_RangePushA - 1);
  EXPECT_EQ(wrong.taken(NVTX_CB_MODULE_CORE), 0);
  attach_to_nvtx(nullptr, true);
  attach_to_nvtx([](std::uint32_t) -> const void* { return nullptr; }, true);
}

// The functions of nvToolsExtPayload.h, as its header calls them; null where they are not taken.
struct PayloadFunctions {
  std::array<std::intptr_t, 63> slots{};

  PayloadFunctions() {
    ExtensionSegment segment{0, slots.size(), slots.data()};
    ExtensionModule module{};
    module.struct_size = sizeof(module);
    module.module = kPayloadModule;
    module.segment_count = 1;
    module.segments = &segment;
    EXPECT_TRUE(attach_to_extension(&module));
  }
  template <typename Result, typename... Arguments>
  Result call(std::size_t slot, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(slots.at(slot))(arguments...);  // NOLINT(performance-no-int-to-ptr)
  }
};

constexpr const PayloadData* kNoData = nullptr;

// As NCCL does where it tells at a function's end what it has made.
TEST(NvtxPayloadRanges, ClosesWhatWasOpenedWithoutAPayload) {
  (void)world();
  const PayloadFunctions functions;
  auto* const domain = nvtxDomainCreateA("NCCL");
  const auto outer = with_message("ncclCommInitRankConfig"), after = with_message("ncclAllReduce");
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &outer), 0);
  const PayloadData data{1, sizeof(int), &outer};
  EXPECT_EQ((functions.call<int>(4, domain, &data, std::size_t{1})), 0);
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &after), 0);
  EXPECT_EQ(nvtxDomainRangePop(domain), 0);
  EXPECT_NE(find("ncclCommInitRankConfig").end_ns, 0);
  EXPECT_EQ(find("ncclAllReduce").parent, 0U);
}

TEST(NvtxPayloadRanges, AreRangesAndMarksWithoutAName) {
  (void)world();
  const PayloadFunctions functions;
  auto* const domain = nvtxDomainCreateA("payloads alone");
  const auto inner = with_message("in a payload's");
  EXPECT_EQ((functions.call<int>(3, domain, kNoData, std::size_t{0})), 0);
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &inner), 1);
  EXPECT_EQ(nvtxDomainRangePop(domain), 1);
  EXPECT_EQ((functions.call<int>(4, domain, kNoData, std::size_t{0})), 0);
  const auto started = functions.call<nvtxRangeId_t>(5, domain, kNoData, std::size_t{0});
  EXPECT_NE(started, 0U);
  functions.call<void>(6, domain, started, kNoData, std::size_t{0});
  functions.call<void>(2, domain, kNoData, std::size_t{0});
  const auto written = world().captured.flushed();
  const auto is_of_domain = [&](const RangeEvent& range) { return written.text(range.domain) == "payloads alone"; };
  EXPECT_EQ(std::count_if(written.ranges.begin(), written.ranges.end(), is_of_domain), 4);
  EXPECT_NE(find("in a payload's").parent, 0U);
}

TEST(NvtxPayloadRanges, AreNotTakenWhereRangesAreNotWanted) {
  record_ranges(nullptr);
  const PayloadFunctions functions;
  EXPECT_EQ(functions.slots.at(4), 0);
  EXPECT_NE(functions.slots.at(0), 0) << "schemas may be registered before";
  record_ranges(&world().ranges);
}

TEST(NvtxInstances, NamesOfStreamsAndContexts) {
  (void)world();
  Instance instance;
  instance.attach(true);
  int context = 0, stream = 0, runtime_stream = 0;
  instance.get<nvtxNameCuContextA_fakeimpl_fntype>(NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_NameCuContextA)(&context, "context");
  instance.get<nvtxNameCuStreamW_fakeimpl_fntype>(NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_NameCuStreamW)(&stream, L"str\u00e9am");
  instance.get<nvtxNameCudaStreamA_fakeimpl_fntype>(NVTX_CB_MODULE_CUDART, NVTX_CBID_CUDART_NameCudaStreamA)(&runtime_stream,
                                                                                                             nullptr);
  EXPECT_EQ(resource_name(&context), "context");
  EXPECT_EQ(resource_name(&stream),
            "str\xc3\xa9"
            "am");
  EXPECT_EQ(resource_name(&runtime_stream), "");
  EXPECT_EQ(resource_name(&instance), "");
}

}  // namespace
}  // namespace dlkprof::inject::nvtx_test

extern "C" {
int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t)) = &dlkprof::inject::nvtx_test::attach;
}
