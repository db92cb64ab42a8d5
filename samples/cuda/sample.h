// What the samples share: checked CUDA calls, options, device arrays, and the checksum line by which a run with a
// profiler is compared with one without. Every figure a sample prints is the same in every run.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace sample {

[[noreturn]] inline void fail(const char* words, const char* call, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, words);
  std::exit(EXIT_FAILURE);
}

inline void check(cudaError_t result, const char* call, const char* file, int line) {
  if (result != cudaSuccess) fail(cudaGetErrorString(result), call, file, line);
}

inline void check(CUresult result, const char* call, const char* file, int line) {
  if (result == CUDA_SUCCESS) return;
  const char* words = nullptr;
  cuGetErrorString(result, &words);
  fail(words != nullptr ? words : "unknown driver error", call, file, line);
}

// Ends the program where a runtime or driver call fails.
#define SAMPLE_CHECK(call) ::sample::check((call), #call, __FILE__, __LINE__)

// An option `--name value` with its default.
struct Option {
  const char* name;
  std::string value;
};

// The command line of a sample; ends the program with code 2 on an option that it does not know.
class Options {
 public:
  Options(int argc, char** argv, std::initializer_list<Option> known) : known_(known) {
    for (int i = 1; i < argc; i += 2) {
      Option* option = find(argv[i]);
      if (option == nullptr || i + 1 == argc) usage(argv[0]);
      option->value = argv[i + 1];
    }
  }

  [[nodiscard]] const std::string& text(const char* name) { return find(name)->value; }
  // Ends the program with code 2 where the value is no whole number from 1 to a million.
  [[nodiscard]] unsigned number(const char* name) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text(name).c_str(), &end, 10);
    if (*end != '\0' || value < 1 || value > 1'000'000) refuse(name);
    return static_cast<unsigned>(value);
  }
  [[noreturn]] void refuse(const char* name) {
    std::fprintf(stderr, "%s does not take '%s'\n", name, text(name).c_str());
    std::exit(2);
  }

 private:
  Option* find(const char* name) {
    for (Option& option : known_)
      if (std::strcmp(option.name, name) == 0) return &option;
    return nullptr;
  }
  [[noreturn]] void usage(const char* program) const {
    std::fprintf(stderr, "usage: %s", program);
    for (const Option& option : known_) std::fprintf(stderr, " [%s %s]", option.name, option.value.c_str());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }

  std::vector<Option> known_;
};

// Device memory for `size` values of T.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) { SAMPLE_CHECK(cudaMalloc(&data_, size * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    SAMPLE_CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  [[nodiscard]] T* get() const { return data_; }
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> host(size_);
    SAMPLE_CHECK(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Well-mixed bits of an index (the finalizer of MurmurHash3): the input data of the samples.
__host__ __device__ inline std::uint32_t mixed(std::uint32_t index) {
  index ^= index >> 16;
  index *= 0x85ebca6bU;
  index ^= index >> 13;
  index *= 0xc2b2ae35U;
  return index ^ (index >> 16);
}

// Compares what the GPU made with what the CPU expects, bit by bit, and sums it up (FNV-1a over 32-bit words).
class Verdict {
 public:
  explicit Verdict(const char* name) : name_(name) {}

  void add(std::uint32_t got, std::uint32_t expected) {
    checksum_ = (checksum_ ^ got) * 0x100000001b3ULL;
    wrong_ += got != expected ? 1 : 0;
    ++values_;
  }
  void add(float got, float expected) { add(bits(got), bits(expected)); }
  template <typename T>
  void add(const std::vector<T>& got, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < got.size(); ++i) add(got[i], expected[i]);
  }

  // Prints the checksum line; false where a value was wrong.
  [[nodiscard]] bool print() const {
    std::printf("checksum %s %016llx\n", name_, static_cast<unsigned long long>(checksum_));
    std::fflush(stdout);
    if (wrong_ != 0)
      std::fprintf(stderr, "%s: %llu of %llu values are wrong\n", name_, static_cast<unsigned long long>(wrong_),
                   static_cast<unsigned long long>(values_));
    return wrong_ == 0;
  }

 private:
  static std::uint32_t bits(float value) {
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
  }

  const char* name_;
  std::uint64_t checksum_ = 0xcbf29ce484222325ULL;
  std::uint64_t wrong_ = 0, values_ = 0;
};

[[nodiscard]] inline int exit_code(bool right) { return right ? EXIT_SUCCESS : EXIT_FAILURE; }

}  // namespace sample
