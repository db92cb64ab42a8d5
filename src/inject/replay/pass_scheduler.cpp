#include "inject/replay/pass_scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dlkprof::inject {
namespace {

// What a sample may cost at first, in samples of a full window. Simulated on steps of 20 to 1063 launches: with 2, programs
// need three times as many steps and save a fifth of the time; with 16 they save no steps.
constexpr double kDearSample = 8;
// A configuration that waits is worth more with each of its launches, up to what pays for a round of
// skipped passes.
constexpr std::uint64_t kMostWaiting = 1024;
constexpr std::uint64_t kLookAgain = 4;  // of the time that it has waited
// A further sample of a pass is worth half of the one before, so that first ones come first. Waiting makes up for it.
constexpr double kFurtherSample = 0.5, kLeastFurther = 0.25;
// GPU time of a configuration, compared with the mean: no more than a factor, or the small ones would have to wait.
constexpr double kMostWeight = 4;
// Launches of no use in a row that a window stays open for. Half of what a new window takes (some 40 ms, 0.87 ms a launch on an
// H200) does as well as all of it, and 1 costs twice as much where launches come at random.
constexpr double kGapOfPrice = 0.5;
// A pass that so many configurations of late lack is not skipped for a configuration that has waited for fewer launches, as long
// as it comes often: it comes again soon. On the launches of a ResNet-50, two Llamas and prices of an H200 that takes 60 % of the
// time of skipping whatever is of no use now.
constexpr std::size_t kManyLacking = 12;
constexpr std::uint64_t kPatientLaunches = 256;
constexpr std::uint64_t kOften = 1000;   // at most so many launches between two of a configuration
constexpr std::uint64_t kOfLate = 2000;  // launches: about two steps
constexpr std::uint64_t kRecount = 256;

}  // namespace

PassScheduler::PassScheduler(std::vector<Stage> stages) : stages_(std::move(stages)), history_(kHistory) {
  for (const Stage& stage : stages_) {
    first_columns_.push_back(columns_);
    columns_ += stage.passes;
    prices_.insert(prices_.end(), stage.passes, stage.start_stop_ns);
    sample_ns_.push_back(kDearSample * (stage.window_ns / static_cast<double>(stage.most_launches) + stage.launch_ns));
  }
}

PassScheduler::State& PassScheduler::state_of(Key key) {
  if (key >= states_.size()) {
    states_.resize(key + 1);
    samples_.resize(states_.size() * columns_);
  }
  return states_[key];
}

std::uint64_t PassScheduler::wanted_of(const State& state, std::size_t stage) const noexcept {
  const bool is_first_of_two = stages_.size() > 1 && stage == 0;
  return is_first_of_two ? std::min<std::uint64_t>(state.wanted, 1) : state.wanted;
}

bool PassScheduler::lacks(Key key, const Pass& pass) const {
  const State& state = states_[key];
  const std::uint64_t held = samples(key, pass) + (open_ && pass == pass_ ? state.in_window : 0);
  return is_active(state) && held < wanted_of(state, pass.stage);
}

bool PassScheduler::lacks_any(Key key, std::size_t stage) const {
  for (std::size_t pass = 0; pass < stages_[stage].passes; ++pass) {
    if (lacks(key, {stage, pass})) return true;
  }
  return false;
}

bool PassScheduler::opens_first_stage(Key key) const {
  if (stages_.size() < 2 || stage_ > 0) return false;
  return key >= states_.size() || lacks(key, {0, 0});
}

// What has all passes that were asked for needs the first of two stages no more.
void PassScheduler::count_lacking(Key key) {
  State& state = states_[key];
  state.lacking = 0;
  for (std::size_t stage = stages_.size(); stage-- > 0;) {
    for (std::size_t pass = 0; pass < stages_[stage].passes; ++pass) {
      if (samples(key, {stage, pass}) < wanted_of(state, stage)) ++state.lacking;
    }
    if (state.lacking == 0) return;
  }
}

PassScheduler::Before PassScheduler::before(Key key, std::uint64_t wanted, bool may_open) {
  State& state = state_of(key);
  if (wanted > state.wanted) {
    state.wanted = wanted;
    count_lacking(key);
  }
  const std::uint64_t last_position = state.position;
  note(key, wanted);
  is_sample_ = false;
  if (open_) {
    take(key, wanted > 0);
    return Before::inside;
  }
  if (wanted == 0 || !may_open || !is_active(state) || !open_at(key, last_position)) return Before::idle;
  take(key, true);
  return Before::open;
}

void PassScheduler::note(Key key, std::uint64_t wanted) {
  State& state = states_[key];
  ++state.launches;
  state.position = ++launches_;
  history_[launches_ % kHistory] = key;
  gpu_ns_ += state.gpu_ns;
  if (wanted == 0 || !is_active(state)) return;
  wanted_at_ = launches_;
  if (stage_ > 0 && lacks(key, {0, 0}) && !std::exchange(state.missed_first, true)) ++missed_first_;
}

void PassScheduler::take(Key key, bool is_wanted) {
  is_sample_ = is_wanted && lacks(key, pass_);
  window_.push_back(key);
  useless_ = is_sample_ ? 0 : useless_ + 1;
  if (is_sample_) ++states_[key].in_window;
}

bool PassScheduler::open_at(Key key, std::uint64_t last_position) {
  if (states_[key].launches < states_[key].look_again_at) return false;
  const auto stage = stage_for(key);
  if (!stage) return false;
  if (*stage != stage_) change_stage(*stage);
  foresee(key, last_position, stages_[stage_].most_launches);
  const Choice choice = choose_pass(key, last_position);
  // What cannot be repeated is not waited with, nor where nothing is known of what follows.
  if (choice.gain < 0 && last_position != 0 && stages_[stage_].passes > 1) {
    put_off(states_[key]);
    return false;
  }
  pass_ = {stage_, choice.pass};
  skips_ = choice.skips;
  planned_ = foreseen_.size() > 1 ? choice.launches : std::numeric_limits<std::size_t>::max();
  open_ = true;
  return true;
}

// Looking takes some 10 us: not again before waiting has made a difference.
void PassScheduler::put_off(State& state) {
  state.look_again_at = state.launches + 1 + (state.launches - state.sampled_at) / kLookAgain;
}

// The stage of which a window may be opened for a launch of the key now; none: no window is to be.
std::optional<std::size_t> PassScheduler::stage_for(Key key) const {
  const bool here = lacks_any(key, stage_);
  if (stages_.size() < 2) return here ? std::optional(stage_) : std::nullopt;
  const std::size_t other = 1 - stage_;
  const bool settled = launches_ - stage_sampled_at_ > std::clamp(kSettledRounds * states_.size(), kLeastSettled, kMostSettled);
  const bool enough = stage_ == 0 ? settled || may_change() : (settled || missed_first_ >= kManyNew) && may_change();
  if (stage_ == 0 && here) return stage_;
  if (enough && lacks_any(key, other)) return other;
  return here ? std::optional(stage_) : std::nullopt;
}

bool PassScheduler::may_change() const noexcept { return changes_ns_ + kChangeNs <= kMostChanging * spent_ns_; }

void PassScheduler::change_stage(std::size_t stage) {
  stage_ = stage;
  recount_at_ = 0;
  stage_sampled_at_ = launches_;
  missed_first_ = 0;
  for (State& state : states_) state.missed_first = false;
  changes_ns_ += kChangeNs;
  lose_place();
}

// What came after the last launch of the key.
void PassScheduler::foresee(Key key, std::uint64_t last_position, std::size_t launches) {
  foreseen_.assign(1, key);
  if (last_position == 0 || launches_ - last_position >= kHistory) return;
  const std::uint64_t end = std::min(launches_, last_position + launches);
  for (std::uint64_t position = last_position + 1; position < end; ++position) {
    foreseen_.push_back(history_[position % kHistory]);
  }
}

// How many of the configurations that came of late lack each pass.
void PassScheduler::count_lacking_of_late() {
  if (launches_ < recount_at_) return;
  recount_at_ = launches_ + kRecount;
  lacking_of_late_.assign(columns_, 0);
  ++looks_;
  for (std::uint64_t position = launches_ > kOfLate ? launches_ - kOfLate : 1; position <= launches_; ++position) {
    const Key key = history_[position % kHistory];
    if (std::exchange(states_[key].looked_at, looks_) == looks_ || !is_active(states_[key])) continue;
    for (std::size_t pass = 0; pass < stages_[stage_].passes; ++pass) {
      if (lacks(key, {stage_, pass})) ++lacking_of_late_[column({stage_, pass})];
    }
  }
}

// Of those that the key itself lacks; of equals the first to come.
PassScheduler::Choice PassScheduler::choose_pass(Key key, std::uint64_t last_position) {
  const Stage& stage = stages_[stage_];
  const bool comes_often = last_position != 0 && launches_ - last_position <= kOften;
  const bool is_patient = comes_often && states_[key].launches - states_[key].sampled_at < kPatientLaunches;
  count_lacking_of_late();
  Choice best{.gain = -std::numeric_limits<double>::infinity()};
  double skipping = 0;
  for (std::size_t skips = 0; skips < stage.passes; ++skips) {
    const Pass pass{stage_, (next_.value_or(0) + skips) % stage.passes};
    const double price = prices_[column(pass)];
    if (lacks(key, pass)) {
      Choice choice = weigh(pass);
      choice.gain -= skipping + price + std::max(0.0, stage.window_ns - stage.start_stop_ns);
      choice.skips = next_ ? skips : 0;
      if (choice.gain > best.gain) best = choice;
    }
    if (!next_) continue;
    if (is_patient && lacking_of_late_[column(pass)] >= kManyLacking) break;
    skipping += price;
  }
  return best;
}

// A window of the pass over what is foreseen, closed where that gains most.
PassScheduler::Choice PassScheduler::weigh(const Pass& pass) {
  Choice best{.pass = pass.pass, .gain = -std::numeric_limits<double>::infinity()};
  double gain = 0;
  ++looks_;
  for (std::size_t launch = 0; launch < foreseen_.size(); ++launch) {
    const Key key = foreseen_[launch];
    if (std::exchange(states_[key].looked_at, looks_) != looks_) gain += worth(key, pass);
    gain -= stages_[pass.stage].launch_ns;
    if (gain <= best.gain) continue;
    best.gain = gain;
    best.launches = launch + 1;
  }
  return best;
}

double PassScheduler::worth(Key key, const Pass& pass) const {
  if (!lacks(key, pass)) return 0;
  const State& state = states_[key];
  const double further = std::max(kLeastFurther, std::pow(kFurtherSample, samples(key, pass)));
  const double mean_ns = gpu_ns_ / static_cast<double>(states_.size());
  const double weight = state.gpu_ns * static_cast<double>(state.launches) / std::max(1.0, mean_ns);
  const auto waiting = static_cast<double>(std::clamp<std::uint64_t>(state.launches - state.sampled_at, 1, kMostWaiting));
  return sample_ns_[pass.stage] * waiting * further * std::clamp(weight, 1.0, kMostWeight);
}

bool PassScheduler::ends_window() const noexcept {
  const Stage& stage = stages_[pass_.stage];
  if (window_.size() >= stage.most_launches) return true;
  const bool beyond_plan = useless_ > 0 && window_.size() >= planned_;
  return beyond_plan || static_cast<double>(useless_) * stage.launch_ns >= kGapOfPrice * stage.window_ns;
}

void PassScheduler::end_window(double ns) {
  spent_ns_ += ns;
  for (const Key key : window_) {
    State& state = states_[key];
    if (state.in_window == 0) continue;
    samples(key, pass_) += std::exchange(state.in_window, 0);
    state.sampled_at = state.launches;
    state.failures = 0;
    count_lacking(key);
    stage_sampled_at_ = launches_;
  }
  next_ = (pass_.pass + 1) % stages_[pass_.stage].passes;
  recount_at_ = 0;
  clear_window();
}

void PassScheduler::forget_window() {
  for (const Key key : window_) {
    State& state = states_[key];
    if (std::exchange(state.in_window, 0) == 0) continue;
    if (++state.failures >= kMostFailures) state.given_up = true;
  }
  lose_place();
  clear_window();
}

void PassScheduler::clear_window() {
  open_ = false;
  window_.clear();
  useless_ = 0;
}

void PassScheduler::note_price(const Pass& pass, double ns) { prices_[column(pass)] = ns; }

void PassScheduler::set_gpu_time(Key key, std::uint64_t ns) {
  State& state = state_of(key);
  const double before = std::exchange(state.gpu_ns, static_cast<double>(ns));
  gpu_ns_ += (state.gpu_ns - before) * static_cast<double>(state.launches);
}

bool PassScheduler::complete(Key key) const {
  if (key >= states_.size()) return false;
  const State& state = states_[key];
  if (state.wanted != kAll) return state.lacking == 0;
  const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(key * columns_);
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(columns_), [](std::uint32_t held) { return held > 0; });
}

std::size_t PassScheduler::incomplete() const {
  std::size_t count = 0;
  for (Key key = 0; key < states_.size(); ++key) {
    if (states_[key].wanted > 0 && !complete(key)) ++count;
  }
  return count;
}

bool PassScheduler::is_stuck(Key key) const {
  if (key >= states_.size()) return false;
  const State& state = states_[key];
  return state.wanted > 0 && !complete(key) && state.launches - state.sampled_at >= kStuckLaunches;
}

}  // namespace dlkprof::inject
