// Which pass a window of the range profiler holds, and which launches are in it.
//
// A window holds one pass over whatever launches come. A launch configuration needs samples of every pass, and each may come
// from another launch of it: nothing has to come again in the same surroundings.
//
// CUPTI goes through the passes of a plan by itself, round by round: a window is of the pass that is next, and a pass that is of
// no use now is skipped by an empty window. So where a launch comes that lacks samples, the passes it lacks are compared: what
// they are worth to the launches that followed this one the last time, less what windows and skipping cost. A sample is worth
// more the longer its configuration has waited for one, so that each gets its turn.
//
// Another plan (stage) needs another profiler, which takes long to set up. The first of two stages, of one pass, is collected
// until few configurations come that lack it, and then the second; back again where many new ones have come, and the time for
// changing is little beside the time spent.
//
// Knows nothing of CUPTI. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace dlkprof::inject {

class PassScheduler {
 public:
  using Key = std::size_t;  // of a launch configuration: small numbers, given out in order

  struct Stage {
    std::size_t passes = 1;
    std::size_t most_launches = 1;  // of a window: the ranges that there is room for
    double launch_ns = 1;           // a launch in a window
    double window_ns = 1;           // a window besides
    double start_stop_ns = 1;       // of that what an empty one takes, as long as note_price() has not told it of a pass
  };
  struct Pass {
    std::size_t stage = 0, pass = 0;
    friend bool operator==(const Pass&, const Pass&) = default;
  };
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  // One stage, or two, the first of one pass.
  explicit PassScheduler(std::vector<Stage> stages);

  enum class Before : std::uint8_t {
    idle,    // no window is open
    open,    // make skips() empty windows, then open one for pass(): the launch is its first
    inside,  // the launch is in the window that is open
  };
  // `wanted`: samples of its key, by what is known now; 0 where this launch is none of them. `may_open`: whether there is
  // room for another window.
  [[nodiscard]] Before before(Key key, std::uint64_t wanted, bool may_open = true);
  // Whether the launch that was asked about last is a sample of the window's pass.
  [[nodiscard]] bool is_sample() const noexcept { return is_sample_; }
  // Of the window that is open or to be opened.
  [[nodiscard]] Pass pass() const noexcept { return pass_; }
  [[nodiscard]] std::size_t skips() const noexcept { return skips_; }
  // The launch is made; asked where it was in a window. Whether the window is to be closed.
  [[nodiscard]] bool ends_window() const noexcept;
  // The window was closed, and its samples count. `ns`: what it took.
  void end_window(double ns);
  // The window came to nothing: something went wrong in it. The next one has a new profiler.
  void forget_window();
  // The next window has a new profiler, which may begin with any pass.
  void lose_place() noexcept { next_.reset(); }
  // What opening and closing a window of a pass takes, without launches.
  void note_price(const Pass& pass, double ns);

  // GPU time of a launch of the key, where it is known.
  void set_gpu_time(Key key, std::uint64_t ns);

  // Whether a launch of the key would open a window of the first of two stages, which some launches have one chance for.
  [[nodiscard]] bool opens_first_stage(Key key) const;
  // Whether all samples that are wanted of the key are there. Where all launches of it are wanted, one of each pass is enough.
  [[nodiscard]] bool complete(Key key) const;
  // Keys that were wanted and are not complete, those given up among them.
  [[nodiscard]] std::size_t incomplete() const;
  // Launches since a key was last wanted that lacked something.
  [[nodiscard]] std::uint64_t quiet_for() const noexcept { return launches_ - wanted_at_; }
  // Whether the key lacks samples, and its last kStuckLaunches launches were none.
  [[nodiscard]] bool is_stuck(Key key) const;

  // A key that was in so many windows that failed is given up.
  static constexpr unsigned kMostFailures = 8;
  // A configuration that comes by itself, once in a step, waits for some 4 launches until it is worth a window.
  static constexpr std::uint64_t kStuckLaunches = 1024;
  // Launches that are remembered: some tens of steps of a large model.
  static constexpr std::size_t kHistory = std::size_t{1} << 16U;
  // A new profiler in nanoseconds (H200, CUDA 13.0), and which part of all the time it may be.
  static constexpr double kChangeNs = 300e6, kMostChanging = 0.1;
  // Launches without a sample after which a stage gives way to the other: twice as many as there are configurations, which is
  // a step or two of a small network and a part of one of a large one.
  static constexpr std::uint64_t kSettledRounds = 2, kLeastSettled = 100, kMostSettled = 1000;
  // New configurations for which the first stage is worth going back to.
  static constexpr std::size_t kManyNew = 32;

 private:
  struct State {
    std::uint64_t wanted = 0;         // samples; the most that were asked for
    std::uint64_t launches = 0;       // so far
    std::uint64_t sampled_at = 0;     // of these, when one last became a sample
    std::uint64_t look_again_at = 0;  // of these, where a window was of too little use
    std::uint64_t position = 0;       // of the last launch among all launches, from 1; 0: none
    std::uint64_t looked_at = 0;      // when foreseen_ was last gone through
    double gpu_ns = kUnknownGpuNs;
    std::uint32_t in_window = 0;  // samples in the window that is open
    std::uint16_t lacking = 0;    // passes without all samples, of all stages
    std::uint8_t failures = 0;
    bool given_up = false;
    bool missed_first = false;  // came while the first stage was over, and lacks it
  };
  static constexpr double kUnknownGpuNs = 1000;
  struct Choice {
    std::size_t pass = 0, skips = 0, launches = 0;
    double gain = 0;
  };

  [[nodiscard]] State& state_of(Key key);
  [[nodiscard]] std::size_t column(const Pass& pass) const noexcept { return first_columns_[pass.stage] + pass.pass; }
  [[nodiscard]] std::uint32_t& samples(Key key, const Pass& pass) { return samples_[key * columns_ + column(pass)]; }
  [[nodiscard]] std::uint32_t samples(Key key, const Pass& pass) const { return samples_[key * columns_ + column(pass)]; }
  [[nodiscard]] std::uint64_t wanted_of(const State& state, std::size_t stage) const noexcept;
  [[nodiscard]] bool lacks(Key key, const Pass& pass) const;
  [[nodiscard]] bool lacks_any(Key key, std::size_t stage) const;
  [[nodiscard]] bool is_active(const State& state) const noexcept { return state.lacking > 0 && !state.given_up; }
  void count_lacking(Key key);
  void note(Key key, std::uint64_t wanted);
  void take(Key key, bool is_wanted);
  [[nodiscard]] bool open_at(Key key, std::uint64_t last_position);
  static void put_off(State& state);
  [[nodiscard]] std::optional<std::size_t> stage_for(Key key) const;
  [[nodiscard]] bool may_change() const noexcept;
  void change_stage(std::size_t stage);
  void foresee(Key key, std::uint64_t last_position, std::size_t launches);
  void count_lacking_of_late();
  [[nodiscard]] Choice choose_pass(Key key, std::uint64_t last_position);
  [[nodiscard]] Choice weigh(const Pass& pass);
  [[nodiscard]] double worth(Key key, const Pass& pass) const;
  void clear_window();

  std::vector<Stage> stages_;
  std::vector<std::size_t> first_columns_;  // by stage
  std::size_t columns_ = 0;                 // passes of all stages
  std::vector<double> prices_;              // by column: opening and closing a window
  std::vector<double> sample_ns_;           // by stage: what a sample may cost
  std::vector<State> states_;
  std::vector<std::uint32_t> samples_;  // by key, then by column
  std::vector<Key> history_;            // a ring: the launch of position p is at p % kHistory
  std::uint64_t launches_ = 0, wanted_at_ = 0, looks_ = 0;
  double gpu_ns_ = 0;                         // of all launches
  std::vector<std::size_t> lacking_of_late_;  // by column: configurations
  std::uint64_t recount_at_ = 0;              // the launch

  std::size_t stage_ = 0;
  std::optional<std::size_t> next_;     // pass of the profiler that there is
  std::uint64_t stage_sampled_at_ = 0;  // a launch of this stage was
  std::size_t missed_first_ = 0;
  double spent_ns_ = 0, changes_ns_ = 0;

  bool open_ = false, is_sample_ = false;
  Pass pass_;
  std::size_t skips_ = 0;
  std::vector<Key> window_;    // keys of its launches
  std::vector<Key> foreseen_;  // those that are likely to be in it
  std::size_t planned_ = 0;    // launches that it is worth while for, by what is foreseen
  std::size_t useless_ = 0;    // launches of no use, in a row
};

}  // namespace dlkprof::inject
