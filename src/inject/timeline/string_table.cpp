#include "inject/timeline/string_table.h"

#include <algorithm>

namespace dlkprof::inject {

void StringCache::put(std::string_view text, std::size_t hash, std::uint64_t generation, std::uint32_t id) {
  if (text.size() > kLongestText) return;
  Slot& slot = slots_[hash % kSlots];
  slot.generation = 0;  // should assigning throw, nothing is found
  slot.text = text;
  slot.hash = hash;
  slot.id = id;
  slot.generation = generation;
}

std::uint64_t StringTable::new_generation() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

StringTable::Interned StringTable::intern(std::string_view text, std::size_t hash, Stay stay) {
  const std::lock_guard lock(mutex_);
  Texts& texts = stay == Stay::always ? always_ : passing_;
  if (const auto found = texts.find(Hashed{text, hash}); found != texts.end()) return {found->second, false};
  const auto added = texts.emplace(text, last_id_ + 1).first;
  try {
    note_unwritten(*added);
  } catch (...) {
    texts.erase(added);
    throw;
  }
  return {++last_id_, true};
}

std::string StringTable::text_of(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(always_.begin(), always_.end(), [&](const auto& entry) { return entry.second == id; });
  return found != always_.end() ? found->first : std::string();
}

void StringTable::note_unwritten(const Texts::value_type& entry) {
  unwritten_.push_back(&entry);
  unwritten_bytes_.fetch_add(entry.first.size() + sizeof(entry), std::memory_order_relaxed);
}

std::vector<capture::InternedString> StringTable::take_unwritten() {
  decltype(unwritten_) unwritten;
  Texts given_up;  // copied from and destroyed without the lock, which takes a while
  {
    const std::lock_guard lock(mutex_);
    unwritten.swap(unwritten_);
    unwritten_bytes_.store(0, std::memory_order_relaxed);
    if (passing_.size() > kMostPassing) {
      given_up.swap(passing_);
      generation_.store(new_generation(), std::memory_order_relaxed);
    }
  }
  std::vector<capture::InternedString> strings;
  strings.reserve(unwritten.size());
  for (const auto* entry : unwritten) strings.push_back({entry->second, entry->first});
  return strings;
}

void StringTable::forget() {
  unwritten_.clear();
  unwritten_bytes_.store(0, std::memory_order_relaxed);
  passing_.clear();
  generation_.store(new_generation(), std::memory_order_relaxed);
  for (const auto& entry : always_) note_unwritten(entry);
}

}  // namespace dlkprof::inject
