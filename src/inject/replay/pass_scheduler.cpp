#include "inject/replay/pass_scheduler.h"

#include <algorithm>
#include <utility>

namespace dlkprof::inject {
namespace {

// How many times the price of a window the launches may be worth that it misses, at a sample's price each. This and what follows
// was simulated together (bench/window_schedule) on the launches of a ResNet-50, four Llamas and a small network, with prices of
// an H100 and 46 launches in a window: those whose steps repeat have 99 % of their GPU time after 17 to 22 of them in the median.
// With 24 the small network has it after 129 steps and not 21; with 96 the eager Llama after 24 and not 17.
constexpr double kWindowPatience = 48;
// What a whole round is worth of configurations that have come in every round for more than one, if a window misses it: they will
// come again, while others may not. With 10 windows of the ResNet-50 take 5.0 s and not 4.5; with 0.3 the eager Llama is at 99 %
// after 25 steps.
constexpr double kRegularRound = 1;
// Where so few samples or fewer are still expected of a window, patience is the smaller the fewer they are. With 20 the eager
// Llama is at 99 % after 25 steps; with 80 its windows take 3.6 s and not 2.9.
constexpr double kManyExpected = 40;
// What it costs that a window waits for a sample, for each launch that comes before it, at a sample's price. With 0.025 the
// ResNet-50 is at 99 % after 25 steps and not 22; with 0.2 its windows take 4.8 s and not 4.5.
constexpr double kWait = 0.1;
// While the urgent pass is collected: what comes again can wait until as much of it has come as a window costs. With 2 nothing of
// a network on graphs at random, each of whose 60 steps brings new configurations, has all passes in the end, and with 1 67 % of
// what is launched often; a Faster R-CNN's windows take 35 s and not 28 for that. With 0.5 the eager Llama's take 4.5 s, not 3.6.
constexpr double kUrgentPatience = 1;
// How much longer than all others the urgent pass is collected before their windows stop giving way to it. After 240 steps on
// graphs at random 73 % of what is launched often has all passes, and without this 66 %; with 0 it is 74 %, but 5 % of the
// kernels' time has no figures at all, not 2.
constexpr double kUrgentLeadNs = 1e9;
// What still lacks something after so long comes seldom: patience then falls with the square of the time spent. With 3 s the
// eager Llama is at 99 % after 25 steps; with 0.5 its windows take 3.9 s.
constexpr double kPatientNs = 1e9;
// But no further: a window costs as much as so many samples at least.
constexpr double kLeastPatience = 1;
// A configuration that has come so many times as often as it has had passes will not come often enough, and a launch of it that
// is missed is worth so much more, once windows have taken so long. Where lengths vary (a Llama, by bench/window_schedule) more
// of what is launched often then gets all passes, in somewhat longer windows; from the first window on, windows would take longer
// in small networks too, which lose nothing without it.
constexpr double kLate = 1.5;
constexpr double kLateWorth = 6;
constexpr double kLateAfterNs = 4e9;
// A configuration that comes in every round counts as one that may not come again once it has come so many times as often as it
// has had passes: the program may end before it has them all. Where lengths vary 99.5 % of what is launched often then has all
// passes, not 98.8, as one kernel that comes once a step lacked one; the ResNet-50's windows take as long.
constexpr double kOverdue = 3;

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
  if (!is_active(states_[key])) return false;
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
  if (state.before == 0 || launches_ - state.before > kForeseen) state.regular_since = launches_;
  history_[launches_ % kHistory] = key;
  if (wanted == 0 || !lacks_any(key)) return is_idle();
  wanted_at_ = launches_;
  if (is_sample(key)) return true;
  if (open_) count_missed(state);
  return is_worth_window(key) || is_idle();
}

bool PassScheduler::launched_together(std::span<const Key> keys) {
  const auto takes = [this](Key key) { return is_wanted(key) && (is_sample(key) || is_worth_window(key) || is_idle()); };
  if (std::any_of(keys.begin(), keys.end(), takes)) return true;
  for (const Key key : keys) (void)launched(key, key < states_.size() ? states_[key].wanted : 0);
  return false;
}

// What lacks little is not waited with: other launches of it are of use only to few passes, while a configuration that is new
// finds use for almost any window.
void PassScheduler::count_missed(const State& state) {
  const double left = static_cast<double>(state.lacking) / static_cast<double>(passes());
  const double launches_a_pass = lateness(state);
  const bool regular = launches_a_pass < kOverdue && launches_ - state.regular_since > kForeseen;
  const double worth = regular ? kRegularRound / static_cast<double>(std::max<std::uint64_t>(1, round_)) : 1;
  missed_ += is_urgent(pass_) ? 1 : worth / (left * left) * (launches_a_pass >= kLate ? kLateWorth : 1);
}

// Its launches, by the samples of passes that it has had; 0 while it is early.
double PassScheduler::lateness(const State& state) const noexcept {
  if (spent_ns() <= kLateAfterNs) return 0;
  const auto had = static_cast<double>(passes() - state.lacking + 1);  // and the one that this launch may be
  return static_cast<double>(state.launches) / (had * static_cast<double>(std::max<std::uint64_t>(1, state.wanted)));
}

bool PassScheduler::is_worth_window(Key key) const {
  if (!lacks_any(key)) return false;
  if (!open_ || full() || (lacks_urgent(key) && gives_way())) return true;
  return missed_ * dearest_sample_ns_ >= patience() * prices_[pass_].window_ns;
}

bool PassScheduler::gives_way() const noexcept {
  return is_urgent(pass_) || spent_.urgent_ns <= spent_.others_ns + kUrgentLeadNs;
}

double PassScheduler::patience() const noexcept {
  if (is_urgent(pass_)) return kUrgentPatience;
  const double ratio = kPatientNs / std::max(spent_ns(), kPatientNs);
  return std::max(kLeastPatience, kWindowPatience * ratio * ratio) * expectation();
}

// From 0, where nothing is expected any more, to 1.
double PassScheduler::expectation() const noexcept {
  if (expected_ == 0) return 1;
  const std::size_t left = expected_ - std::min(expected_, window_.size());
  return std::min(1.0, static_cast<double>(left) / kManyExpected);
}

PassScheduler::Step PassScheduler::take(Key key) {
  if (is_sample(key)) {
    add_sample(key);
    return Step::sample;
  }
  if (is_worth_window(key)) return Step::window;
  return is_idle() ? Step::close : Step::none;
}

void PassScheduler::open(Key key) {
  const Plan plan = choose_pass(key);
  pass_ = plan.pass;
  expected_ = plan.samples;
  open_ = true;
  add_sample(key);
}

void PassScheduler::add_sample(Key key) {
  window_.push_back(key);
  ++states_[key].in_window;
  added_at_ = launches_;
  if (expected_ == 0 || window_.size() < expected_) return;  // nothing is foreseen, or more is
  holds_all_ = true;
  for (Key other = 0; other < states_.size() && holds_all_; ++other) holds_all_ = !lacks_any(other);
}

void PassScheduler::take_back() {
  State& state = states_[window_.back()];
  --state.in_window;
  if (++state.failures >= kMostFailures) state.given_up = true;
  window_.pop_back();
}

// Of the passes that the key lacks, the one that gains most for its price; of equals the first.
PassScheduler::Plan PassScheduler::choose_pass(Key key) {
  if (passes() == 1 || lacks_urgent(key)) return {};
  foresee(key);
  Plan best;
  for (std::size_t pass = 0; pass < passes(); ++pass) {
    if (!lacks(key, pass)) continue;
    const Plan plan = plan_of(pass);
    if (plan.gain > best.gain) best = plan;
  }
  return best;
}

// The keys that lack something of what came in the last round of the program's loop, in order: they are likely to come in the
// next.
void PassScheduler::foresee(Key key) {
  ++looks_;
  states_[key].looked_at = looks_;
  foreseen_.assign(1, {key, 0});
  round_ = round();
  const std::uint64_t begin = launches_ - round_;
  for (std::uint64_t position = begin; position < launches_; ++position) {
    const Key other = history_[position % kHistory];
    if (std::exchange(states_[other].looked_at, looks_) == looks_ || !is_active(states_[other])) continue;
    foreseen_.push_back({other, position - begin});
  }
}

// Its length in launches: the longest way between two of one key. What was launched once is of no loop.
std::uint64_t PassScheduler::round() const {
  const std::uint64_t most = std::min<std::uint64_t>(kForeseen, launches_ - 1);
  std::uint64_t longest = 0;
  for (std::uint64_t position = launches_ - most; position < launches_; ++position) {
    const State& state = states_[history_[position % kHistory]];
    if (state.position == position && state.before != 0) longest = std::max(longest, position - state.before);
  }
  return longest == 0 ? most : std::min(longest, most);
}

// How long a window of the pass is best kept open: until what its samples are worth, further ones of a pass less than the first,
// is most for each nanosecond that it costs.
PassScheduler::Plan PassScheduler::plan_of(std::size_t pass) const {
  const Price& price = prices_[pass];
  Plan best{.pass = pass};
  std::size_t taken = 0;
  double worth = 0;
  for (const auto& [key, launches] : foreseen_) {
    if (taken == most_samples_) break;
    if (!lacks(key, pass)) continue;
    ++taken;
    worth += 1.0 / (1.0 + samples(key, pass));
    const double cost = price.window_ns + price.sample_ns * static_cast<double>(taken) +
                        kWait * dearest_sample_ns_ * static_cast<double>(launches);
    if (worth / cost > best.gain) best = {pass, taken, worth / cost};
  }
  return best;
}

void PassScheduler::end_window(std::optional<double> ns) {
  Price& price = prices_[pass_];
  price.window_ns = ns.value_or(price.window_ns);
  (is_urgent(pass_) ? spent_.urgent_ns : spent_.others_ns) +=
      price.window_ns + price.sample_ns * static_cast<double>(window_.size());
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
  open_ = holds_all_ = false;
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
  if (state.wanted == 0 || state.in_window > 0 || complete(key)) return false;
  return state.launches - state.sampled_at >= kStuckLaunches;
}

}  // namespace dlkprof::inject
