// The texts of the ranges that are open, where --nvtx-include or --nvtx-exclude asks for them: push/pop ranges by thread and
// domain, start/end ranges of the process. Beside Ranges, whose events hold numbers that are read later. Thread-safe; never
// throws into the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "capture/options.h"
#include "select/nvtx_filter.h"

namespace dlkprof::inject {

class NvtxScopes {
 public:
  // Null where no filter asks for ranges. Throws UsageError.
  [[nodiscard]] static std::unique_ptr<NvtxScopes> of(const capture::Selection& selection);
  explicit NvtxScopes(select::NvtxFilter filter) : filter_(std::move(filter)) {}

  // `domain`: its text, "" being the default one. A range of which there is no memory is only counted.
  void push(std::string_view domain, std::string_view name) noexcept;
  void pop(std::string_view domain) noexcept;
  void start(std::uint64_t range, std::string_view domain, std::string_view name) noexcept;
  void end(std::uint64_t range) noexcept;

  // Whether a launch of this thread is to be taken now.
  [[nodiscard]] bool takes_launch() noexcept;

  // What to tell where no launch was taken, though there were some: ranges that may have been meant. Throws std::bad_alloc.
  [[nodiscard]] std::optional<std::string> near_misses();
  [[nodiscard]] bool limit_exceeded();

  // Around fork.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  static constexpr std::size_t kMostPushed = 4096;  // of a domain on a thread; those within are only counted
  static constexpr std::size_t kMostBytes = 1024;   // of a name; longer ones are cut

 private:
  struct Thread;
  struct Local;
  struct Owner;
  static Local& local() noexcept;
  [[nodiscard]] static Thread* own_thread();

  // A range as the filter would name it.
  struct Seen {
    std::string domain, name;
    bool pushed = false;
    [[nodiscard]] std::string as_filter() const;
    friend auto operator<=>(const Seen&, const Seen&) = default;
  };
  [[nodiscard]] bool evaluate(const Thread* thread);
  void note_seen(std::string_view domain, std::string_view name, bool pushed);

  std::mutex mutex_;
  select::NvtxFilter filter_;
  std::map<std::uint64_t, std::pair<std::string, std::string>> started_;  // by range: domain and name
  std::atomic<std::uint64_t> changes_{1};                                 // of started_
  std::set<Seen> seen_;
  std::uint64_t asked_ = 0, taken_ = 0;  // of evaluations
};

}  // namespace dlkprof::inject
