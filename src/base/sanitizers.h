// Which sanitizers this is built with: g++ says it by macros, clang by features.
#pragma once

#ifdef __has_feature
#define DLKPROF_HAS_FEATURE(feature) __has_feature(feature)
#else
#define DLKPROF_HAS_FEATURE(feature) 0
#endif

namespace dlkprof {

#if defined(__SANITIZE_ADDRESS__) || DLKPROF_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || DLKPROF_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace dlkprof

#undef DLKPROF_HAS_FEATURE
