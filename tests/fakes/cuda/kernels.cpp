// The kernels that the fake GPU can run. All but the last take (float* data, const float* other, int count), and each
// gives another result when it runs twice, so that a replay that does not restore memory is seen.
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "common/journal.h"
#include "cuda/state.h"

namespace fakes {
namespace {

struct Arguments {
  float* data;
  const float* other;
  int count;
};

Arguments unpack(const std::uint8_t* bytes) {
  Arguments arguments{};
  std::memcpy(&arguments.data, bytes, sizeof(float*));
  std::memcpy(&arguments.other, bytes + sizeof(float*), sizeof(float*));
  std::memcpy(&arguments.count, bytes + 2 * sizeof(float*), sizeof(int));
  return arguments;
}

void add_in_place(const std::uint8_t* bytes) {
  const auto [data, other, count] = unpack(bytes);
  for (int i = 0; i < count; ++i) data[i] += other[i] + 1.0F;
}

// c = c / 2 + a b
void multiply(const std::uint8_t* bytes) {
  const auto [data, other, count] = unpack(bytes);
  for (int i = 0; i < count; ++i) data[i] = 0.5F * data[i] + other[i] * other[count - 1 - i];
}

// Moves values by one place.
void rotate(const std::uint8_t* bytes) {
  const auto [data, other, count] = unpack(bytes);
  const float last = data[count - 1];
  for (int i = count - 1; i > 0; --i) data[i] = data[i - 1];
  data[0] = last + other[0];
}

// The profiler's own: (const uint64_t* words, uint64_t count).
void flush(const std::uint8_t* bytes) {
  const std::uint64_t* words = nullptr;
  std::uint64_t count = 0;
  std::memcpy(&words, bytes, sizeof words);
  std::memcpy(&count, bytes + sizeof words, sizeof count);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += words[i];
  if (sum != 0) misuse("the buffer that empties the cache is not all zero");
  trace("flush");
}

const std::vector<std::size_t> kUsual{8, 8, 4};

const Kernel kKernels[] = {
    {"_Z12add_in_placePfPKfi", kUsual, add_in_place, 16, 0, 1, 47232},
    {"_Z6rotatePfPKfi", kUsual, rotate, 20, 1024, 48, 7072, 2},
    {"_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE", kUsual, multiply, 122, 0, 16, 12096},
    {"nvjet_tst_128x64_64x8_2x1_v_bz_TNT", kUsual, multiply, 168, 0, 6, 24736},
    {"volta_sgemm_128x64_nn", kUsual, multiply, 122, 12544, 20, 9120},
    {"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", kUsual, add_in_place, 96, 0, 69, 35936},
    {"dlkprof_flush_cache", {8, 8}, flush, 16, 0, 0, 66656},
};

}  // namespace

std::vector<const char*> kernel_names() {
  std::vector<const char*> names;
  for (const auto& kernel : kKernels) names.push_back(kernel.name);
  return names;
}

// Kernels of any mangled name, which add in place as the first does: a program may call its kernels as it likes.
const Kernel* find_kernel(const std::string& name) {
  for (const auto& kernel : kKernels) {
    if (name == kernel.name) return &kernel;
  }
  if (!name.starts_with("_Z")) return nullptr;
  static std::mutex mutex;
  static auto& others = *new std::map<std::string, Kernel>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = others.try_emplace(name, kKernels[0]);
  if (is_new) found->second.name = found->first.c_str();
  return &found->second;
}

}  // namespace fakes
