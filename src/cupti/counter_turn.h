// Whose turn it is with a GPU's counters, among processes that dlkprof profiles: they have one user at a time, and others get
// CUPTI_ERROR_HARDWARE_BUSY. A turn is an abstract Unix socket named after the GPU (unix(7)): the kernel gives a name to one
// process at a time and takes it back when that process dies, whatever it dies of. No file is left behind, and any user may wait.
// Containers have names of their own, and take no turns with one another.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "base/unique_handle.h"

namespace dlkprof::cupti {

// Closes it while its number still names a socket of ours; and not in a forked child to which close_turns_in_child() has applied.
void close_turn_socket(int socket) noexcept;

// In a forked child, which inherits the sockets of its parent's turns, and would keep them for as long as it lives.
void close_turns_in_child() noexcept;

class CounterTurn {
 public:
  // Nobody's.
  CounterTurn() = default;
  // Waits for `gpu`, a PCI bus id, to be free; one who has just given it back comes after all who wait. Returns without the turn
  // when `patience` is over, or where there are no such sockets.
  [[nodiscard]] static CounterTurn wait(const std::string& gpu, std::chrono::milliseconds patience);
  // The same; throws Error where it is not had in time.
  [[nodiscard]] static CounterTurn take(const std::string& gpu);

  [[nodiscard]] bool held() const noexcept { return static_cast<bool>(turn_); }
  // Another process waits for this turn to end.
  [[nodiscard]] bool is_wanted() const noexcept;

 private:
  using Socket = UniqueHandle<int, close_turn_socket, -1>;
  explicit CounterTurn(std::string gpu) : gpu_(std::move(gpu)) {}

  std::string gpu_;
  Socket turn_;
};

}  // namespace dlkprof::cupti
