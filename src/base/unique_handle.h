// Owns a C handle: one line a handle type. The destructor closes and cannot fail; where closing can fail
// and matters, the owner has an explicit finish().
#pragma once

#include <utility>

namespace dlkprof {

template <typename T, auto Close, T Null = T{}>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(T handle) noexcept : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  [[nodiscard]] T get() const noexcept { return handle_; }
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != Null; }
  [[nodiscard]] T release() noexcept { return std::exchange(handle_, Null); }
  void reset(T handle = Null) noexcept {
    if (T old = std::exchange(handle_, handle); old != Null) Close(old);
  }

 private:
  T handle_ = Null;
};

}  // namespace dlkprof
