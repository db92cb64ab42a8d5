// What a program says through NVTX: attributes of any version, size and kind, messages of any bytes, handles that are none, ends
// without a beginning. Whatever it says, our functions behind NVTX return, and the capture holds whole ranges alone, whose texts
// stand before them. Input: a call a byte, and what it takes. NVTX itself is the real one.
#include <cstdint>

extern "C" {
extern int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t));
}
#define NVTX_STATIC_INJECTION_IMPL
#include <nvtx3/nvToolsExt.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "capture/events.h"
#include "capture/reader.h"
#include "fuzz/input.h"
#include "fuzz/scratch.h"
#include "inject/session/recorder.h"
#include "inject/timeline/event_log.h"
#include "inject/timeline/nvtx.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using fuzz::Input;

// NVTX asks for its tool at the first call, and keeps it.
int attach(const void* (*export_table)(std::uint32_t)) {
  inject::attach_to_nvtx(export_table, false);
  return 1;
}

// What a session has.
struct World {
  capture::ProfileOptions options{.output_directory = fuzz::scratch_folder()};
  inject::Recorder recorder{options, 0, 0};
  inject::EventLog log{recorder};
  inject::Ranges ranges{log, recorder};

  World() {
    recorder.append(capture::ClockRecord{});
    inject::record_ranges(&ranges);
  }
};

// "dlkprof:fact: <source> <name> <value>", which is no mark.
bool is_fact(const char* message) {
  constexpr std::string_view kPrefix = "dlkprof:fact: ";
  const std::string_view text = message == nullptr ? "" : message;
  if (!text.starts_with(kPrefix)) return false;
  const std::size_t name = text.find(' ', kPrefix.size());
  return name != text.npos && text.find(' ', name + 1) != text.npos;
}

// Of one input: texts must outlive the calls, as the program's do.
class Program {
 public:
  explicit Program(Input input) : input_(input) {}

  void run() {
    while (!input_.at_end()) call(input_.byte());
  }
  // Ranges and marks.
  [[nodiscard]] std::size_t said() const { return said_; }

 private:
  const char* text() {
    const std::string& text = texts_.emplace_back(input_.text());
    return text == "\1" ? nullptr : text.c_str();
  }
  const wchar_t* wide() {
    std::wstring& wide = wide_.emplace_back();
    for (std::size_t left = input_.byte(); left > 0 && !input_.at_end(); --left) wide += static_cast<wchar_t>(input_.number());
    return wide.c_str();
  }
  // One that was given out, or any number.
  void* handle() {
    const unsigned choice = input_.byte();
    if (choice < handles_.size()) return handles_[choice];
    return choice < 128 ? nullptr : reinterpret_cast<void*>(static_cast<std::uintptr_t>(input_.number()));  // NOLINT
  }
  nvtxDomainHandle_t domain() { return static_cast<nvtxDomainHandle_t>(handle()); }
  void keep(void* handle) { handles_.push_back(handle); }

  // The message is what its type says, or nothing.
  const nvtxEventAttributes_t* attributes() {
    nvtxEventAttributes_t& event = attributes_ = {};
    const unsigned shape = input_.byte();
    event.version = (shape & 1U) != 0 ? static_cast<std::uint16_t>(input_.number()) : std::uint16_t{NVTX_VERSION};
    event.size = (shape & 2U) != 0 ? static_cast<std::uint16_t>(input_.number()) : std::uint16_t{NVTX_EVENT_ATTRIB_STRUCT_SIZE};
    event.category = (shape & 4U) != 0 ? static_cast<std::uint32_t>(input_.number()) : 0;
    event.payloadType = (shape & 8U) != 0 ? static_cast<std::int32_t>(input_.number()) : input_.byte() % 8;
    event.payload.ullValue = input_.number();
    event.messageType = (shape & 16U) != 0 ? static_cast<std::int32_t>(input_.number()) : input_.byte() % 4;
    if (event.messageType == NVTX_MESSAGE_TYPE_ASCII) event.message.ascii = text();
    if (event.messageType == NVTX_MESSAGE_TYPE_UNICODE) event.message.unicode = wide();
    if (event.messageType == NVTX_MESSAGE_TYPE_REGISTERED) event.message.registered = static_cast<nvtxStringHandle_t>(handle());
    return (shape & 64U) != 0 ? nullptr : &event;
  }

  void call(unsigned which) {
    switch (which % 3) {
      case 0:
        return push_or_pop(which / 3);
      case 1:
        return start_or_end(which / 3);
      default:
        return name(which / 3);
    }
  }
  void push_or_pop(unsigned which) {
    switch (which % 6) {
      case 0:
        ++said_;
        return (void)nvtxRangePushA(text());
      case 1:
        ++said_;
        return (void)nvtxRangePushW(wide());
      case 2:
        ++said_;
        return (void)nvtxRangePushEx(attributes());
      case 3: {
        ++said_;
        nvtxDomainHandle_t where = domain();
        return (void)nvtxDomainRangePushEx(where, attributes());
      }
      case 4:
        return (void)nvtxDomainRangePop(domain());
      default:
        return (void)nvtxRangePop();
    }
  }
  void start_or_end(unsigned which) {
    switch (which % 6) {
      case 0:
        started_.push_back(nvtxRangeStartA(text()));
        break;
      case 1:
        started_.push_back(nvtxRangeStartEx(attributes()));
        break;
      case 2: {
        nvtxDomainHandle_t where = domain();
        started_.push_back(nvtxDomainRangeStartEx(where, attributes()));
        break;
      }
      case 3: {
        const char* message = text();
        if (!is_fact(message)) ++said_;
        return nvtxMarkA(message);
      }
      case 4:
        ++said_;
        return nvtxMarkEx(attributes());
      default: {
        const unsigned choice = input_.byte();
        return nvtxRangeEnd(choice < started_.size() ? started_[choice] : input_.number());
      }
    }
    ++said_;
  }
  void name(unsigned which) {
    switch (which % 6) {
      case 0:
        return keep(nvtxDomainCreateA(text()));
      case 1:
        return keep(nvtxDomainCreateW(wide()));
      case 2: {
        nvtxDomainHandle_t where = domain();
        return keep(nvtxDomainRegisterStringA(where, text()));
      }
      case 3: {
        const std::uint64_t category = input_.number();
        return nvtxNameCategoryA(static_cast<std::uint32_t>(category), text());
      }
      case 4:
        return nvtxNameOsThreadA(input_.byte(), text());
      default:
        return nvtxDomainDestroy(domain());
    }
  }

  Input input_;
  std::vector<void*> handles_;
  std::vector<nvtxRangeId_t> started_;
  std::deque<std::string> texts_;  // which never moves what it holds
  std::deque<std::wstring> wide_;
  nvtxEventAttributes_t attributes_{};
  std::size_t said_ = 0;
};

// How many ranges and marks the capture holds, whose texts all stand before them.
std::size_t checked_ranges(const std::filesystem::path& path) {
  std::set<std::uint32_t> texts{0};
  std::size_t ranges = 0;
  capture::Reader reader = capture::Reader::open(path);
  while (const std::optional<capture::Record> record = reader.next()) {
    if (const auto* strings = std::get_if<capture::StringsRecord>(&*record)) {
      for (const auto& string : strings->strings) fuzz::require(texts.insert(string.id).second);
    }
    const auto* events = std::get_if<capture::EventsRecord>(&*record);
    if (events == nullptr || events->kind != capture::EventKind::range) continue;
    for (const capture::RangeEvent& range : capture::unpack_events<capture::RangeEvent>(*events)) {
      fuzz::require(texts.contains(range.name) && texts.contains(range.domain));
      fuzz::require(range.start_ns <= range.end_ns || range.end_ns == 0);
      ++ranges;
    }
  }
  fuzz::require(reader.state().damaged == 0 && !reader.state().cut);
  return ranges;
}

}  // namespace

extern "C" {
int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t)) = &attach;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path capture = fuzz::scratch_folder() / "dlkprof.dlkcap";
  std::size_t said = 0;
  {
    World world;
    Program program(Input({data, size}));
    program.run();
    said = program.said();
    world.ranges.finish();
    world.log.flush();
  }
  fuzz::require(checked_ranges(capture) == said);
  std::filesystem::remove(capture);
  return 0;
}
