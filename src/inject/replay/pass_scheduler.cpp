#include "inject/replay/pass_scheduler.h"

#include <algorithm>
#include <utility>

namespace dlkprof::inject {
namespace {

// How many times the price of a window the launches may be worth that it misses, at a sample's price each. Simulated on the
// launches of a ResNet-50, two Llamas, a small network and one whose shapes vary, with prices of an H200: with 4 a ResNet takes
// half as long again and has all after 23 steps instead of 26; with 40 it needs more than 30.
constexpr double kPatience = 20;
// While the urgent pass is collected: what comes again can wait until a step of a small network has brought nothing new.
constexpr double kUrgentPatience = 2;
// What still lacks something after so long comes seldom: patience then falls with the square of the time spent, so that of 100
// configurations that are launched 20 times or more 93 get all passes instead of 80 where shapes vary.
constexpr double kPatientNs = 7e9;

}  // namespace

PassScheduler::PassScheduler(std::vector<Price> prices, std::size_t most_samples, bool first_is_urgent)
    : prices_(std::move(prices)), most_samples_(most_samples), first_is_urgent_(first_is_urgent), history_(kHistory) {
  for (const Price& price : prices_) dearest_sample_ns_ = std::max(dearest_sample_ns_, price.sample_ns);
}

std::uint64_t PassScheduler::wanted_of(const State& state, std::size_t pass) const noexcept {
  return is_urgent(pass) ? std::min<std::uint64_t>(state.wanted, 1) : state.wanted;
}

bool PassScheduler::lacks(Key key, std::size_t pass) const {
  const State& state = states_[key];
  const std::uint64_t held = samples(key, pass) + (open_ && pass == pass_ ? state.in_window : 0);
  return is_active(state) && held < wanted_of(state, pass);
}

bool PassScheduler::lacks_any(Key key) const {
  for (std::size_t pass = 0; pass < passes(); ++pass) {
    if (lacks(key, pass)) return true;
  }
  return false;
}

bool PassScheduler::is_sample(Key key) const {
  return open_ && !full() && lacks(key, pass_) && (is_urgent(pass_) || !lacks_urgent(key));
}

// What has all other passes needs the urgent one no more.
void PassScheduler::count_lacking(Key key) {
  State& state = states_[key];
  state.lacking = 0;
  for (std::size_t pass = passes(); pass-- > 0;) {
    if (is_urgent(pass) && state.lacking == 0) return;
    if (samples(key, pass) < wanted_of(state, pass)) ++state.lacking;
  }
}

bool PassScheduler::launched(Key key, std::uint64_t wanted) {
  if (key >= states_.size()) {
    states_.resize(key + 1);
    samples_.resize(states_.size() * passes());
  }
  State& state = states_[key];
  if (wanted > state.wanted) {
    state.wanted = wanted;
    count_lacking(key);
  }
  ++state.launches;
  state.before = std::exchange(state.position, ++launches_);
  history_[launches_ % kHistory] = key;
  if (wanted == 0 || !is_active(state)) return false;
  wanted_at_ = launches_;
  if (is_sample(key)) return true;
  if (open_) count_missed(state);
  return is_worth_window(key);
}

// What lacks little is not waited with: other launches of it are of use only to few passes, while a configuration that is new
// finds use for almost any window.
void PassScheduler::count_missed(const State& state) {
  const double left = static_cast<double>(state.lacking) / static_cast<double>(passes());
  missed_ += is_urgent(pass_) ? 1 : 1 / (left * left);
}

bool PassScheduler::is_worth_window(Key key) const {
  if (!lacks_any(key)) return false;
  if (!open_ || full() || lacks_urgent(key)) return true;
  return missed_ * dearest_sample_ns_ >= patience() * prices_[pass_].window_ns;
}

double PassScheduler::patience() const noexcept {
  if (is_urgent(pass_)) return kUrgentPatience;
  const double ratio = kPatientNs / std::max(spent_ns_, kPatientNs);
  return kPatience * ratio * ratio;
}

PassScheduler::Step PassScheduler::take(Key key) {
  if (is_sample(key)) {
    add_sample(key);
    return Step::sample;
  }
  return is_worth_window(key) ? Step::window : Step::none;
}

void PassScheduler::open(Key key) {
  pass_ = choose_pass(key);
  open_ = true;
  add_sample(key);
}

void PassScheduler::add_sample(Key key) {
  window_.push_back(key);
  ++states_[key].in_window;
}

// Of the passes that the key lacks, the one that gains most for its price; of equals the first.
std::size_t PassScheduler::choose_pass(Key key) {
  if (passes() == 1 || lacks_urgent(key)) return 0;
  foresee(key);
  std::size_t best = 0;
  double most = -1;
  for (std::size_t pass = 0; pass < passes(); ++pass) {
    if (!lacks(key, pass)) continue;
    const double gained = gain(pass);
    if (gained <= most) continue;
    best = pass;
    most = gained;
  }
  return best;
}

// The keys that lack something of what came after the launch of the key before this one.
void PassScheduler::foresee(Key key) {
  ++looks_;
  states_[key].looked_at = looks_;
  foreseen_.assign(1, key);
  const std::uint64_t before = states_[key].before;
  if (before == 0 || launches_ - before >= kHistory) return;
  const std::uint64_t end = std::min(launches_, before + kForeseen);
  for (std::uint64_t position = before + 1; position < end; ++position) {
    const Key other = history_[position % kHistory];
    if (std::exchange(states_[other].looked_at, looks_) != looks_ && is_active(states_[other])) foreseen_.push_back(other);
  }
}

// What a window of the pass is worth for each nanosecond: its samples, further ones of a pass less than the first, until it ends.
double PassScheduler::gain(std::size_t pass) const {
  const Price& price = prices_[pass];
  std::size_t taken = 0, missed = 0;
  double worth = 0;
  for (const Key key : foreseen_) {
    if (taken == most_samples_ || static_cast<double>(missed) * price.sample_ns >= kPatience * price.window_ns) break;
    if (!lacks(key, pass)) {
      ++missed;
      continue;
    }
    ++taken;
    worth += 1.0 / (1.0 + samples(key, pass));
  }
  return worth / (price.window_ns + price.sample_ns * static_cast<double>(taken));
}

void PassScheduler::end_window(double ns) {
  prices_[pass_].window_ns = ns;
  spent_ns_ += ns + prices_[pass_].sample_ns * static_cast<double>(window_.size());
  for (const Key key : window_) {
    State& state = states_[key];
    if (state.in_window == 0) continue;
    samples(key, pass_) += std::exchange(state.in_window, 0);
    state.sampled_at = state.launches;
    state.failures = 0;
    count_lacking(key);
  }
  clear_window();
}

void PassScheduler::forget_window() {
  for (const Key key : window_) {
    State& state = states_[key];
    if (std::exchange(state.in_window, 0) == 0) continue;
    if (++state.failures >= kMostFailures) state.given_up = true;
  }
  clear_window();
}

void PassScheduler::clear_window() {
  open_ = false;
  window_.clear();
  missed_ = 0;
}

bool PassScheduler::complete(Key key) const {
  if (key >= states_.size()) return false;
  const State& state = states_[key];
  if (state.wanted != kAll) return state.lacking == 0;
  const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(key * passes());
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(passes()), [](std::uint32_t held) { return held > 0; });
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
