#include "inject/replay/run_scheduler.h"

#include <algorithm>

namespace dlkprof::inject {

RunScheduler::State& RunScheduler::state_of(Key key) {
  if (key >= states_.size()) states_.resize(key + 1);
  return states_[key];
}

bool RunScheduler::is_useful(const State& state, std::uint64_t wanted) {
  return wanted > 0 && !state.done && state.samples + state.in_run < wanted;
}

std::size_t RunScheduler::incomplete() const noexcept {
  return static_cast<std::size_t>(std::count_if(states_.begin(), states_.end(), [](const State& state) {
    return !state.done && state.samples < (state.wanted == kAll ? 1 : state.wanted);
  }));
}

// FNV-1a, by words. A hash that means two places costs a run.
std::uint64_t RunScheduler::place_of(Key key) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Key before : context_) hash = (hash ^ before) * 0x100000001b3;
  return (hash ^ key) * 0x100000001b3;
}

// Where one pass is all there is, the program need not come again.
bool RunScheduler::is_at_known_place(Key key) {
  if (!settings_.repeats) return true;
  if (places_.size() >= kMostPlaces) places_.clear();
  return !places_.try_emplace(place_of(key), settings_.most_launches).second;
}

RunScheduler::Before RunScheduler::before(Key key, std::uint64_t wanted) {
  State& state = state_of(key);
  if (open_ && pass_ > 0 && run_[position_] != key) return Before::broken;
  if (open_ && pass_ == 0 && settings_.repeats && key == run_.front() && context_ == place_) return Before::wraps;
  ++launches_;
  state.wanted = std::max(state.wanted, wanted);
  if (wanted > 0 && !state.done) wanted_at_ = launches_;
  last_ = key;
  if (open_) {
    if (pass_ == 0) take(key, wanted);
    return Before::inside;
  }
  if (pass_ > 0 && launches_ - waiting_since_ > patience_) {
    abandon(run_.size(), patience_ == kMostPatience);
    patience_ = std::min(2 * patience_, kMostPatience);
  }
  if (pass_ > 0) {
    open_ = key == run_.front() && context_ == place_;
  } else if (is_useful(state, wanted)) {
    if (is_at_known_place(key)) {
      begin(key);
      take(key, wanted);
    } else if (++state.strange == kStrangeLaunches) {
      fail(state);
    }
  }
  if (open_) return Before::open;
  remember(key);
  return Before::idle;
}

void RunScheduler::begin(Key key) {
  open_ = true;
  place_ = context_;
  run_place_ = place_of(key);
  limit_ = settings_.repeats ? places_.at(run_place_) : settings_.most_launches;
  run_.clear();
  useful_ = 0;
}

void RunScheduler::take(Key key, std::uint64_t wanted) {
  State& state = state_of(key);
  const bool useful = is_useful(state, wanted);
  run_.push_back(key);
  if (wanted > 0) ++state.in_run;
  if (useful) useful_ = run_.size();
}

bool RunScheduler::ends_pass() {
  remember(last_);
  ++position_;
  if (pass_ > 0) return position_ == run_.size();
  return run_.size() >= limit_ || run_.size() - useful_ >= settings_.longest_gap;
}

bool RunScheduler::cut() { return pass_ == 0; }

void RunScheduler::end_pass() {
  open_ = false;
  position_ = 0;
  ++pass_;
  waiting_since_ = launches_;
}

void RunScheduler::end_run() {
  for (const Key key : run_) {
    State& state = states_[key];
    state.samples += state.in_run;
    state.in_run = 0;
    state.failures = state.strange = 0;
    if (state.wanted == 0 || state.done || state.samples < state.wanted) continue;
    state.done = true;
  }
  run_.clear();
  open_ = false;
  pass_ = position_ = 0;
}

// `matched`: how many launches of the run were as before.
void RunScheduler::abandon(std::size_t matched, bool counts) {
  if (run_.empty()) return;
  for (const Key key : run_) {
    State& state = states_[key];
    if (state.in_run == 0) continue;
    state.in_run = 0;
    if (counts) fail(state);
  }
  if (settings_.repeats && counts) places_[run_place_] = std::clamp<std::size_t>(matched, 1, run_.size());
  run_.clear();
  open_ = false;
  pass_ = position_ = 0;
}

void RunScheduler::fail(State& state) {
  state.strange = 0;
  if (state.done || ++state.failures < kMostFailures) return;
  state.done = true;
  ++given_up_;
}

void RunScheduler::remember(Key key) {
  std::rotate(context_.begin(), context_.begin() + 1, context_.end());
  context_.back() = key;
}

}  // namespace dlkprof::inject
