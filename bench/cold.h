// What a call of ours costs where neither its code nor its data is in the caches, as between two calls the program runs
// megabytes of its own.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/event_clock.h"

namespace dlkprof::bench {

// The clock of the figures. Ours, that of events, would be warm by being read just before.
class Stopwatch {
 public:
#if defined(__x86_64__)
  Stopwatch() {
    const std::int64_t from = event_clock_ns();
    const std::uint64_t begin = __builtin_ia32_rdtsc();
    while (event_clock_ns() - from < 50'000'000) {
    }
    ns_a_tick_ = static_cast<double>(event_clock_ns() - from) / static_cast<double>(__builtin_ia32_rdtsc() - begin);
  }
  void start() noexcept {
    __builtin_ia32_lfence();
    begin_ = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
  }
  [[nodiscard]] double stop() noexcept {
    unsigned processor = 0;
    const std::uint64_t end = __builtin_ia32_rdtscp(&processor);
    __builtin_ia32_lfence();
    return static_cast<double>(end - begin_) * ns_a_tick_;
  }

 private:
  std::uint64_t begin_ = 0;
  double ns_a_tick_ = 0;
#else
  void start() noexcept { begin_ = event_clock_ns(); }
  [[nodiscard]] double stop() noexcept { return static_cast<double>(event_clock_ns() - begin_); }

 private:
  std::int64_t begin_ = 0;
#endif
};

// Pages of the usual size: a program's data is not in huge ones.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) std::abort();
    (void)madvise(pages, bytes, MADV_NOHUGEPAGE);
    begin_ = static_cast<std::uint8_t*>(pages);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (begin_ != nullptr) munmap(begin_, bytes_);
  }
  [[nodiscard]] std::uint8_t* begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::uint8_t* begin_ = nullptr;
};

// What the program does meanwhile: touches `data` bytes and runs through `code` bytes of machine code, a line of the caches
// after another. Both are powers of 2, or 0.
class Others {
 public:
  Others(std::size_t data, std::size_t code) : data_(data), code_(code) {
    if (code == 0) return;
#if defined(__x86_64__)
    constexpr std::uint8_t kJumpToNextLine[] = {0xeb, 0x3e}, kReturn = 0xc3;
    for (std::size_t at = 0; at < code; at += kLine) std::memcpy(code_.begin() + at, kJumpToNextLine, sizeof(kJumpToNextLine));
    code_.begin()[code - kLine] = kReturn;
    if (mprotect(code_.begin(), code, PROT_READ | PROT_EXEC) != 0) std::abort();
#endif
  }

  void run() {
    for (std::size_t i = 0, at = 0; i < data_.size() / kLine; ++i, at = (at + kStride) & (data_.size() - 1)) ++data_.begin()[at];
#if defined(__x86_64__)
    if (code_.size() != 0) reinterpret_cast<void (*)()>(code_.begin())();
#endif
  }

 private:
  static constexpr std::size_t kLine = 64, kStride = 65 * kLine;  // from page to page, and to every line
  Pages data_, code_;
};

// The mean of the middle half, which what else the machine does in between leaves alone: of the mean of all it may be most, and
// the median of a clock that ticks every 10 ns is coarse.
inline double middle(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto quarter = static_cast<std::ptrdiff_t>(times.size() / 4);
  return std::accumulate(times.begin() + quarter, times.end() - quarter, 0.0) /
         static_cast<double>(times.size() - 2 * (times.size() / 4));
}

}  // namespace dlkprof::bench
