#include "inject/timeline/nvtx_scopes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace dlkprof::inject {
namespace {

constexpr std::size_t kMostSeen = 1000;   // different ranges, to be proposed
constexpr std::size_t kMostProposed = 5;  // of them

}  // namespace

// --- The thread's own -------------------------------------------------------------------------------------------------

struct NvtxScopes::Thread {
  struct Domain {
    std::string name;
    std::vector<std::string> pushed;  // outermost first
    std::size_t beyond = 0;           // pushed within these, and only counted
  };
  std::vector<Domain> domains;
  std::uint64_t started_seen = 0;  // changes_ as `takes` was found; 0: it is to be found anew
  bool takes = false;

  Domain& domain(std::string_view name) {
    const auto found = std::ranges::find(domains, name, &Domain::name);
    return found != domains.end() ? *found : domains.emplace_back(Domain{std::string(name), {}, 0});
  }
};

// Of plain values, so that it can be read while the thread's other variables are destroyed already.
struct NvtxScopes::Local {
  Thread* thread = nullptr;
  bool ending = false;
};

NvtxScopes::Local& NvtxScopes::local() noexcept {
  static constinit thread_local Local local;
  return local;
}

struct NvtxScopes::Owner {
  Thread thread;

  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { local() = {.thread = nullptr, .ending = true}; }
};

NvtxScopes::Thread* NvtxScopes::own_thread() {
  Local& mine = local();
  if (mine.thread == nullptr && !mine.ending) {
    static thread_local Owner owner;
    mine.thread = &owner.thread;
  }
  return mine.thread;
}

std::string NvtxScopes::Seen::as_filter() const {
  constexpr std::size_t kColumns = 60;
  const auto shown = [](const std::string& text) { return select::escape_nvtx(printable(text, kColumns)); };
  return (domain.empty() ? "" : shown(domain) + "@") + shown(name) + (pushed ? "/" : "");
}

// --- What the program does --------------------------------------------------------------------------------------------

std::unique_ptr<NvtxScopes> NvtxScopes::of(const capture::Selection& selection) {
  return selection.by_ranges() ? std::make_unique<NvtxScopes>(select::NvtxFilter(selection)) : nullptr;
}

void NvtxScopes::push(std::string_view domain, std::string_view name) noexcept {
  try {
    Thread* const thread = own_thread();
    if (thread == nullptr) return;
    auto& of = thread->domain(domain);
    if (of.pushed.size() == kMostPushed || of.beyond > 0) {
      ++of.beyond;
      return;
    }
    ++of.beyond;  // where there is no memory, its pop finds this
    of.pushed.emplace_back(name.substr(0, kMostBytes));
    --of.beyond;
    thread->started_seen = 0;
    note_seen(domain, of.pushed.back(), true);
  } catch (...) {  // out of memory
  }
}

void NvtxScopes::pop(std::string_view domain) noexcept {
  try {
    Thread* const thread = own_thread();
    if (thread == nullptr) return;
    auto& of = thread->domain(domain);
    if (of.beyond > 0) {
      --of.beyond;
    } else if (!of.pushed.empty()) {
      of.pushed.pop_back();
      thread->started_seen = 0;
    }
  } catch (...) {  // out of memory: then nothing was pushed there
  }
}

void NvtxScopes::start(std::uint64_t range, std::string_view domain, std::string_view name) noexcept {
  try {
    {
      const std::lock_guard lock(mutex_);
      started_.insert_or_assign(range, std::pair(std::string(domain), std::string(name.substr(0, kMostBytes))));
      ++changes_;
    }
    note_seen(domain, name.substr(0, kMostBytes), false);
  } catch (...) {  // out of memory
  }
}

void NvtxScopes::end(std::uint64_t range) noexcept {
  const std::lock_guard lock(mutex_);
  if (started_.erase(range) != 0) ++changes_;
}

void NvtxScopes::note_seen(std::string_view domain, std::string_view name, bool pushed) {
  if (name.empty()) return;  // no filter names it
  const std::lock_guard lock(mutex_);
  if (taken_ > 0 || seen_.size() == kMostSeen) return;  // nothing is to be proposed, or enough can be
  seen_.insert({std::string(domain), std::string(name), pushed});
}

// --- Launches ---------------------------------------------------------------------------------------------------------

bool NvtxScopes::takes_launch() noexcept {
  try {
    Thread* const thread = own_thread();
    const std::uint64_t changes = changes_.load(std::memory_order_acquire);
    if (thread != nullptr && thread->started_seen == changes) return thread->takes;
    const bool takes = evaluate(thread);
    if (thread != nullptr) {
      thread->takes = takes;
      thread->started_seen = changes;
    }
    return takes;
  } catch (...) {  // out of memory
    return false;
  }
}

bool NvtxScopes::evaluate(const Thread* thread) {
  const std::lock_guard lock(mutex_);
  std::vector<select::OpenNvtxRanges> open(1);  // the default domain is always there
  const auto of = [&](std::string_view domain) -> select::OpenNvtxRanges& {
    const auto found = std::ranges::find(open, domain, &select::OpenNvtxRanges::domain);
    return found != open.end() ? *found : open.emplace_back(select::OpenNvtxRanges{domain, {}, {}});
  };
  if (thread != nullptr) {
    for (const auto& domain : thread->domains) of(domain.name).pushed.assign(domain.pushed.begin(), domain.pushed.end());
  }
  for (const auto& [range, names] : started_) of(names.first).started.push_back(names.second);
  const bool takes = filter_.takes(open);
  ++asked_;
  taken_ += takes ? 1 : 0;
  if (takes) seen_.clear();
  return takes;
}

bool NvtxScopes::limit_exceeded() {
  const std::lock_guard lock(mutex_);
  return filter_.limit_exceeded();
}

std::optional<std::string> NvtxScopes::near_misses() {
  const std::lock_guard lock(mutex_);
  if (taken_ > 0 || asked_ == 0) return std::nullopt;
  if (seen_.empty()) return "the program marks no ranges";
  std::vector<const Seen*> ranges;
  for (const Seen& range : seen_) ranges.push_back(&range);
  std::ranges::stable_partition(ranges, [&](const Seen* range) { return filter_.is_near(range->name); });
  const bool more = ranges.size() > kMostProposed;
  if (more) ranges.resize(kMostProposed);
  std::string text = "there are";
  for (const Seen* range : ranges) text += (range == ranges.front() ? " " : ", ") + range->as_filter();
  return text + (more ? ", ..." : "");
}

}  // namespace dlkprof::inject
