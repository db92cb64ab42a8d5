#include "cupti/counter_turn.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace dlkprof::cupti {
namespace {

using Socket = UniqueHandle<int, close_turn_socket, -1>;

constexpr int kNone = -1;

// The sockets that are open, each with one added, so that 0 is a free place. Without a lock, which a forked child could find
// locked for good.
std::array<std::atomic<int>, 64> noted_sockets;

bool replace_noted(int socket, int by) noexcept {
  return std::ranges::any_of(noted_sockets, [socket, by](std::atomic<int>& place) {
    int found = socket + 1;
    return place.compare_exchange_strong(found, by + 1);
  });
}

constexpr std::string_view kPrefix("\0dlkprof-", 9);  // of an abstract name: it begins with a zero

// Whether the number still names a socket of ours: the program may close any, and open its files under the same number.
bool is_ours(int socket) noexcept {
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sun_family != AF_UNIX) return false;
  return std::memcmp(address.sun_path, kPrefix.data(), kPrefix.size()) == 0;
}

void close_ours(int socket) noexcept {
  if (is_ours(socket)) ::close(socket);
}

// Bound to the name; empty where another process has it, or there are no such sockets.
Socket bind_name(std::string_view purpose, const std::string& gpu) {
  UniqueFd made = to_high_number(UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  if (!made || !replace_noted(kNone, made.get())) return Socket();  // there are places for more than all GPUs of a machine need
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name(kPrefix);
  name.append(purpose).append("-").append(gpu);
  name.resize(std::min(name.size(), sizeof(address.sun_path)));
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (bind(made.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return Socket(made.release());
  replace_noted(made.get(), kNone);
  return Socket();
}

}  // namespace

void close_turn_socket(int socket) noexcept {
  if (replace_noted(socket, kNone)) close_ours(socket);
}

void close_turns_in_child() noexcept {
  for (std::atomic<int>& place : noted_sockets) {
    if (const int socket = place.exchange(0) - 1; socket != kNone) close_ours(socket);
  }
}

// Who waits has a name of its own until the turn is had, so that there is one who is next.
CounterTurn CounterTurn::wait(const std::string& gpu, std::chrono::milliseconds patience) {
  constexpr auto kBetweenTries = std::chrono::milliseconds(2);
  const auto until = std::chrono::steady_clock::now() + patience;
  CounterTurn turn(gpu);
  Socket next;
  for (;;) {
    if (!next) next = bind_name("waiting", gpu);
    if (next) turn.turn_ = bind_name("turn", gpu);
    if (turn.held() || std::chrono::steady_clock::now() >= until) return turn;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

CounterTurn CounterTurn::take(const std::string& gpu) {
  constexpr auto kPatience = std::chrono::seconds(10);
  CounterTurn turn = wait(gpu, kPatience);
  if (turn.held()) return turn;
  throw Error("the GPU's counters are in use by another process that dlkprof profiles",
              "GPU " + gpu + " was waited for " + std::to_string(kPatience.count()) + " s",
              "Profile one process at a time: --target-processes application-only, or --ranks 0 for a job of several.");
}

// The name that those who wait have is free where nobody does.
bool CounterTurn::is_wanted() const noexcept { return held() && !bind_name("waiting", gpu_); }

}  // namespace dlkprof::cupti
