#include "cupti/real.h"

#include <dlfcn.h>
#include <zstd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common/failures.h"
#include "common/journal.h"

namespace fakes {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "fake libcupti: %s\n", why.c_str());
  std::abort();
}

std::optional<CUptiResult> result_of(const std::string& name) {
  const auto result_string = FAKE_REAL(cuptiGetResultString);
  for (int value = 0; value < 1000; ++value) {
    const char* known = nullptr;
    const auto result = static_cast<CUptiResult>(value);
    if (result_string(result, &known) == CUPTI_SUCCESS && known != nullptr && name == known) return result;
  }
  return std::nullopt;
}

std::vector<std::uint8_t> read_recording() {
  std::ifstream file(FAKE_RECORDING, std::ios::binary);
  const std::vector<char> packed{std::istreambuf_iterator<char>(file), {}};
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (packed.empty() || size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) give_up("no " FAKE_RECORDING);
  std::vector<std::uint8_t> image(size);
  if (ZSTD_isError(ZSTD_decompress(image.data(), size, packed.data(), packed.size()))) give_up("a damaged " FAKE_RECORDING);
  return image;
}

std::atomic<bool> g_finalized{false};

}  // namespace

// By its whole path: the name libcupti.so.13 is ours. So is that of NVPerf, for which the real one asks by name.
void* real_symbol(const char* name) {
  if (std::string_view(name).starts_with("cuptiProfilerHost")) {
    static void* const nvperf = dlopen(FAKE_REAL_NVPERF, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    (void)nvperf;  // without it the real one says what is wrong
  }
  static void* const library = dlopen(FAKE_REAL_CUPTI, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library != nullptr ? dlsym(library, name) : nullptr;
  if (symbol == nullptr) give_up(std::string(FAKE_REAL_CUPTI ": no ") + name);
  return symbol;
}

const DriverTable* driver() {
  static const DriverTable* const table = []() -> const DriverTable* {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void* symbol = library != nullptr ? dlsym(library, kDriverTableSymbol) : nullptr;
    return symbol != nullptr ? reinterpret_cast<const DriverTable* (*)()>(symbol)() : nullptr;
  }();
  return table;
}

std::optional<CUptiResult> told_to_fail(const char* function) {
  static Failures& failures = *new Failures("FAKE_CUPTI_FAIL");
  const auto name = failures.next(function);
  if (!name) return std::nullopt;
  const auto result = result_of(*name);
  if (!result) give_up("FAKE_CUPTI_FAIL: no result " + *name);
  trace(std::string("failed ") + function);
  return result;
}

void set_finalized(bool finalized) { g_finalized = finalized; }

void check_alive(const char* function) {
  if (g_finalized) misuse(std::string(function) + " after cuptiFinalize");
  check_driver(function);
}

void check_driver(const char* function) {
  if (driver()->shut_down()) misuse(std::string(function) + " after the driver was taken down");
}

std::recursive_mutex& state_mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

const FakeImage* as_fake_image(const std::uint8_t* image, std::size_t size) {
  if (image == nullptr || size < sizeof(FakeImage)) return nullptr;
  const auto* fake = reinterpret_cast<const FakeImage*>(image);
  return fake->magic == kFakeImageMagic && size >= FakeImage::bytes(fake->room, fake->range_bytes) ? fake : nullptr;
}

const std::vector<std::uint8_t>& recording() {
  static const auto& image = *new std::vector<std::uint8_t>(read_recording());
  return image;
}

}  // namespace fakes
