// strnlen(3) and memcpy(3) for texts of some hundred bytes, in the midst of the code that needs them: libc's are faster, but take
// a dozen lines of the caches that are in none of them where the caller is seldom called, and so most of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dlkprof {

#if defined(__SSE2__)
// The bytes before the NUL, or `most` where there is none before. Reads whole aligned blocks of 16 bytes, and so what lies
// before and behind the text, but nothing of another page: which sanitizers would take for a mistake.
__attribute__((no_sanitize("address", "thread"))) inline std::size_t inline_strnlen(const char* text, std::size_t most) noexcept {
  if (most == 0) return 0;
  constexpr std::uintptr_t kBlock = sizeof(__m128i);
  const auto into = reinterpret_cast<std::uintptr_t>(text) % kBlock;
  const char* const end = text + most;
  const char* block = text - into;
  unsigned found = 0;
  for (unsigned looked_at = ~0U << into;; looked_at = ~0U) {
    const __m128i bytes = *reinterpret_cast<const __m128i*>(block);
    found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()))) & looked_at;
    if (found != 0) break;
    block += kBlock;
    if (block >= end) [[unlikely]]
      return most;
  }
  const auto length = static_cast<std::size_t>(block - text) + static_cast<std::size_t>(__builtin_ctz(found));
  return length < most ? length : most;
}

inline void inline_memcpy(char* to, const char* from, std::size_t size) noexcept {
  constexpr std::size_t kBlock = sizeof(__m128i);
  if (size >= kBlock) {
    const auto copy = [&](std::size_t at) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
    };
    for (std::size_t at = 0; at < size - kBlock; at += kBlock) copy(at);
    copy(size - kBlock);
    return;
  }
  for (std::size_t at = 0; at < size; ++at) {
    to[at] = from[at];
    __asm__("");  // or it would be made a call of memcpy()
  }
}
#else
inline std::size_t inline_strnlen(const char* text, std::size_t most) noexcept { return strnlen(text, most); }
inline void inline_memcpy(char* to, const char* from, std::size_t size) noexcept { std::memcpy(to, from, size); }
#endif

}  // namespace dlkprof
