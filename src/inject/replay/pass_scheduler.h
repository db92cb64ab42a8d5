// Of which pass a window is, and which launches are samples of it.
//
// A window holds one pass, and of the launches that come while it is open those that are picked; all others run as ever. A launch
// configuration needs samples of every pass, and each may come from another launch of it: nothing has to come again in the same
// surroundings. A window is of the pass that is of most use to what came in the last round of the program's loop, for its price.
// It ends when it is full, when another pass is of use and as many samples have come as it was best to wait for, or when it has
// missed enough launches that lacked other passes.
//
// The first pass may be one that each configuration is to have from the first time that it comes, before all others: windows of
// other passes give way to it. Where every step brings new configurations, that pass would take all the time: once it has taken
// a second more than all others, their windows do not.
//
// Knows nothing of CUPTI. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace dlkprof::inject {

class PassScheduler {
 public:
  using Key = std::size_t;  // of a launch configuration: small numbers, given out in order

  struct Price {
    double sample_ns = 1;
    double window_ns = 1;  // besides its samples, as long as end_window() does not tell another
  };
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  // `prices`: of each pass. `most_samples`: of a window. `first_is_urgent`: one sample of the first pass comes before all others.
  PassScheduler(std::vector<Price> prices, std::size_t most_samples, bool first_is_urgent);

  // A launch is made. `wanted`: samples of its key, by what is known now; 0 where this launch is to be none of them. Whether
  // take() is to be called, as it is likely to be one.
  [[nodiscard]] bool launched(Key key, std::uint64_t wanted);

  // The same of launches that are made together, as a graph. Where one of them is likely to be a sample, launched() is to be
  // called for each that is then made by itself.
  [[nodiscard]] bool launched_together(std::span<const Key> keys);

  enum class Step : std::uint8_t {
    none,    // the launch is no sample
    sample,  // it is one of the window that is open
    window,  // it would be one of another window: the one that may be open is to be closed, and then open() called
    close,   // it is none, and the window that is open has found no sample for long: it is to be closed
  };
  [[nodiscard]] Step take(Key key);
  // Chooses the pass of a window, whose first sample is this launch.
  void open(Key key);
  // Of the window that is open or was last.
  [[nodiscard]] std::size_t pass() const noexcept { return pass_; }
  // Whether the window that is open has no room for another sample, or all that is still wanted.
  [[nodiscard]] bool full() const noexcept { return window_.size() >= most_samples_ || holds_all_; }
  // The last sample of the window that is open was no launch: the driver refused it. The window is to be closed.
  void take_back();
  // The window was closed, and its samples count. `ns`: what opening and closing it took, which the next of the pass will too;
  // none: its price.
  void end_window(std::optional<double> ns);
  // The window came to nothing: something went wrong in it.
  void forget_window();

  // Whether all samples that are wanted of the key are there. Where all launches of it are wanted, one of each pass is enough.
  [[nodiscard]] bool complete(Key key) const;
  // Whether the key lacks samples that are wanted of it, and is not given up.
  [[nodiscard]] bool is_wanted(Key key) const { return key < states_.size() && is_active(states_[key]); }
  // Keys that were wanted and are not complete, those given up among them.
  [[nodiscard]] std::size_t incomplete() const;
  // Launches since a key was last wanted that lacked something.
  [[nodiscard]] std::uint64_t quiet_for() const noexcept { return launches_ - wanted_at_; }
  // Whether the key lacks samples, and its last kStuckLaunches launches were none.
  [[nodiscard]] bool is_stuck(Key key) const;

  // A key that was in so many windows that failed, or was refused so many times, with no sample in between, is given up.
  static constexpr unsigned kMostFailures = 8;
  static constexpr std::uint64_t kStuckLaunches = 1024;
  // A window that has not found a sample for so many launches, several steps of a large model, is closed, so that those that it
  // has count.
  static constexpr std::uint64_t kIdleLaunches = 8192;
  // Launches that are looked at to foresee those of a window: a step of a large model.
  static constexpr std::size_t kForeseen = 1536;
  static constexpr std::size_t kHistory = std::size_t{1} << 16U;

 private:
  struct State {
    std::uint64_t wanted = 0;         // samples; the most that were asked for
    std::uint64_t launches = 0;       // so far
    std::uint64_t sampled_at = 0;     // of these, when one last became a sample
    std::uint64_t position = 0;       // of the last launch among all launches, from 1; 0: none
    std::uint64_t before = 0;         // of the one before
    std::uint64_t regular_since = 0;  // of the first since when it has come in every round
    std::uint64_t looked_at = 0;      // when what is foreseen was last gone through
    std::uint32_t in_window = 0;      // samples in the window that is open
    std::uint16_t lacking = 0;        // passes without all samples
    std::uint8_t failures = 0;
    bool given_up = false;
  };

  struct Foreseen {
    Key key = 0;
    std::uint64_t launches = 0;  // that come before it
  };
  // On the urgent pass, and on all others.
  struct Spent {
    double urgent_ns = 0, others_ns = 0;
  };
  // Of a window.
  struct Plan {
    std::size_t pass = 0;
    std::size_t samples = 0;  // that are expected of it; 0 where nothing is foreseen
    double gain = -1;         // what they are worth, for each nanosecond
  };

  [[nodiscard]] std::size_t passes() const noexcept { return prices_.size(); }
  [[nodiscard]] std::uint32_t& samples(Key key, std::size_t pass) { return samples_[key * passes() + pass]; }
  [[nodiscard]] std::uint32_t samples(Key key, std::size_t pass) const { return samples_[key * passes() + pass]; }
  [[nodiscard]] bool is_urgent(std::size_t pass) const noexcept { return first_is_urgent_ && pass == 0; }
  [[nodiscard]] std::uint64_t wanted_of(const State& state, std::size_t pass) const noexcept;
  [[nodiscard]] bool is_active(const State& state) const noexcept { return state.lacking > 0 && !state.given_up; }
  [[nodiscard]] bool lacks(Key key, std::size_t pass) const;
  [[nodiscard]] bool lacks_any(Key key) const;
  [[nodiscard]] bool lacks_urgent(Key key) const { return first_is_urgent_ && lacks(key, 0); }
  [[nodiscard]] bool is_sample(Key key) const;
  [[nodiscard]] bool is_worth_window(Key key) const;
  [[nodiscard]] bool is_idle() const noexcept { return open_ && launches_ - added_at_ >= kIdleLaunches; }
  [[nodiscard]] bool gives_way() const noexcept;
  [[nodiscard]] double spent_ns() const noexcept { return spent_.urgent_ns + spent_.others_ns; }
  [[nodiscard]] double patience() const noexcept;
  [[nodiscard]] double expectation() const noexcept;
  void count_lacking(Key key);
  void count_missed(const State& state);
  [[nodiscard]] double lateness(const State& state) const noexcept;
  [[nodiscard]] Plan choose_pass(Key key);
  void add_sample(Key key);
  void foresee(Key key);
  [[nodiscard]] std::uint64_t round() const;
  [[nodiscard]] Plan plan_of(std::size_t pass) const;
  void clear_window();

  std::vector<Price> prices_;  // by pass
  const std::size_t most_samples_;
  const bool first_is_urgent_;
  double dearest_sample_ns_ = 0;

  std::vector<State> states_;
  std::vector<std::uint32_t> samples_;  // by key, then by pass
  std::vector<Key> history_;            // a ring: the launch of position p is at p % kHistory
  std::uint64_t launches_ = 0, wanted_at_ = 0, looks_ = 0;
  std::uint64_t round_ = 0;     // launches of one, when what is foreseen was last gone through
  std::uint64_t added_at_ = 0;  // the last sample
  Spent spent_;

  bool open_ = false;
  bool holds_all_ = false;  // no key lacks what is not in the window
  std::size_t pass_ = 0;
  std::vector<Key> window_;         // keys of its samples
  std::vector<Foreseen> foreseen_;  // distinct ones
  std::size_t expected_ = 0;        // samples of the plan
  double missed_ = 0;               // launches that lack other passes than that of the window, by what each is worth
};

}  // namespace dlkprof::inject
