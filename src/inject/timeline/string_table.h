// The numbers of the timeline's texts. Messages that differ in every call (PyTorch numbers its ops) would fill memory, so
// what passes by is kept for a while only: a text that returns later may then have a second number. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

// The passing texts that its owner used lately, so that looking them up again takes no lock.
class StringCache {
 public:
  // 0 where it is not known, or only of another generation (StringTable::generation).
  [[nodiscard]] std::uint32_t find(std::string_view text, std::size_t hash, std::uint64_t generation) const noexcept {
    const Slot& slot = slots_[hash % kSlots];
    const bool hit = slot.hash == hash && slot.generation == generation && slot.text == text;
    return hit ? slot.id : 0;
  }
  void put(std::string_view text, std::size_t hash, std::uint64_t generation, std::uint32_t id);

 private:
  struct Slot {
    std::size_t hash = 0;
    std::uint64_t generation = 0;
    std::uint32_t id = 0;
    std::string text;
  };
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kLongestText = 512;  // longer ones are mostly those that never come again

  std::array<Slot, kSlots> slots_;
};

class StringTable {
 public:
  // How long a number must stay the number of its text: as long as the process lives, or until kMostPassing others came.
  enum class Stay : std::uint8_t { always, passing };
  struct Interned {
    std::uint32_t id = 0;
    bool is_new = false;
  };

  // `hash` is hash_of(text). Throws std::bad_alloc.
  [[nodiscard]] Interned intern(std::string_view text, std::size_t hash, Stay stay);
  [[nodiscard]] static std::size_t hash_of(std::string_view text) noexcept { return std::hash<std::string_view>()(text); }

  // Whether it is the number of some text.
  [[nodiscard]] bool has(std::uint64_t id) const noexcept { return id != 0 && id <= last_id_.load(std::memory_order_relaxed); }
  // The text of a number that stays always; "" where there is none. Slow.
  [[nodiscard]] std::string text_of(std::uint32_t id);

  // The texts that no capture has yet; from now on it has. To be appended before any event that names them. One caller at a
  // time: passing texts that another one gives up must stay until they are copied.
  [[nodiscard]] std::vector<capture::InternedString> take_unwritten();
  [[nodiscard]] std::size_t unwritten_bytes() const noexcept { return unwritten_bytes_.load(std::memory_order_relaxed); }
  // Another one whenever numbers of passing texts were given up; never that of another table.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  // In a forked child: no text is in its capture yet, and passing ones are the parent's.
  void forget();

  // Around fork.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  static constexpr std::size_t kMostPassing = std::size_t{1} << 16U;

 private:
  struct Hashed {
    std::string_view text;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    std::size_t operator()(const std::string& text) const noexcept { return hash_of(text); }
    std::size_t operator()(const Hashed& key) const noexcept { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    bool operator()(const std::string& a, const std::string& b) const noexcept { return a == b; }
    bool operator()(const Hashed& a, const std::string& b) const noexcept { return a.text == b; }
    bool operator()(const std::string& a, const Hashed& b) const noexcept { return a == b.text; }
  };
  using Texts = std::unordered_map<std::string, std::uint32_t, Hash, Equal>;

  void note_unwritten(const Texts::value_type& entry);
  static std::uint64_t new_generation() noexcept;

  std::mutex mutex_;
  Texts always_, passing_;
  std::vector<const Texts::value_type*> unwritten_;  // elements of the two maps, which stay where they are
  std::atomic<std::size_t> unwritten_bytes_{0};
  std::atomic<std::uint64_t> generation_{new_generation()};
  std::atomic<std::uint32_t> last_id_{0};
};

}  // namespace dlkprof::inject
