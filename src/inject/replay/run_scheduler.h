// Which launches share a window of the range profiler, and when a pass over them is repeated.
//
// A run is a sequence of launches that is measured together, pass by pass. It begins at a place that the program has come by
// before: the same launch behind the same others. In the first pass it grows, launch by launch, for as long as that is of use;
// each further pass waits for the place to come again. Where the sequence then differs, the run is thrown away, and the next
// one at this place is no longer than what was alike.
//
// A plan of one pass needs no repetition: what a window holds is complete, whatever comes next. Otherwise a run ends at the
// latest where its place comes again, so that the next pass can begin at once.
//
// Knows nothing of CUPTI. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace dlkprof::inject {

class RunScheduler {
 public:
  using Key = std::size_t;  // of a launch configuration: small numbers, given out in order

  struct Settings {
    bool repeats = false;           // there are several passes
    std::size_t most_launches = 1;  // of a run: the ranges that there is room for
    std::size_t longest_gap = 1;    // launches of no use in a row after which a run ends
  };
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  explicit RunScheduler(const Settings& settings) : settings_(settings) {}

  enum class Before : std::uint8_t {
    idle,    // no window is open
    open,    // open one: the launch is its first
    inside,  // the launch is in the window that is open
    wraps,   // the pass ends before it: close the window, then ask again
    broken,  // close the window and forget its run, for which this is the wrong launch; then ask again
  };
  // `wanted`: samples of its key, by what is known now; 0 where this launch is none of them.
  [[nodiscard]] Before before(Key key, std::uint64_t wanted);

  // The launch is made; asked where it was in a window. Whether the pass ends with it, and the window is to be closed.
  [[nodiscard]] bool ends_pass();
  // Something follows that no window may hold, while one is open. Whether the pass is whole nevertheless.
  [[nodiscard]] bool cut();
  // The window was closed after a whole pass; there are more to come.
  void end_pass();
  // That was the last one: the launches of the run count as samples.
  void end_run();
  // The run came to nothing: its launches differed, or something went wrong in it.
  void forget_run() { abandon(position_, true); }
  // The same through no fault of its own.
  void lose_run() { abandon(run_.size(), false); }

  // Keys that were wanted and are still to be measured, those given up left out. Where all launches of a key are wanted, one
  // is enough.
  [[nodiscard]] std::size_t incomplete() const noexcept;
  [[nodiscard]] std::size_t given_up() const noexcept { return given_up_; }
  // Launches since a key was last wanted that was not complete.
  [[nodiscard]] std::uint64_t quiet_for() const noexcept { return launches_ - wanted_at_; }
  // The pass that is going on or waited for.
  [[nodiscard]] std::size_t pass() const noexcept { return pass_; }

  // A key for which runs have failed so often is given up: its launches never come twice in the same surroundings. So many
  // of them at places that were not known count for a failure.
  static constexpr unsigned kMostFailures = 8;
  static constexpr unsigned kStrangeLaunches = 256;
  // A place that the program has not come by again after so many launches is not waited for any longer. Programs begin with
  // what never comes again, and their iterations are of all sizes: so it is few at first, and twice as many each time.
  static constexpr std::uint64_t kFirstPatience = 1000, kMostPatience = 64'000;
  // Places that are remembered; then it begins anew.
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 16U;

 private:
  struct State {
    std::uint64_t wanted = 0;   // samples; the most that were asked for
    std::uint64_t samples = 0;  // measured, in runs that ended
    std::uint64_t in_run = 0;   // in the run that is going on
    unsigned failures = 0;
    unsigned strange = 0;  // launches at places not known, since the last failure
    bool done = false;     // complete, or given up
  };

  [[nodiscard]] State& state_of(Key key);
  [[nodiscard]] static bool is_useful(const State& state, std::uint64_t wanted);
  [[nodiscard]] bool is_at_known_place(Key key);
  [[nodiscard]] std::uint64_t place_of(Key key) const;
  void begin(Key key);
  void take(Key key, std::uint64_t wanted);
  void abandon(std::size_t matched, bool counts);
  void fail(State& state);
  void remember(Key key);

  static constexpr std::size_t kContext = 8;  // launches before a run by which its place is known
  using Context = std::array<Key, kContext>;

  const Settings settings_;
  std::vector<State> states_;
  Context context_{};  // the last launches, the oldest first
  // By the hash of a context and the launch behind it, of those seen lately: launches that a run there may have.
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::uint64_t launches_ = 0, wanted_at_ = 0;
  std::size_t given_up_ = 0;

  std::vector<Key> run_;
  Context place_{};              // before the run
  std::uint64_t run_place_ = 0;  // its hash, with the first launch
  std::size_t limit_ = 1;        // launches that it may have
  std::size_t useful_ = 0;       // launches up to the last useful one, in the first pass
  std::size_t position_ = 0;     // launches of this pass
  std::size_t pass_ = 0;         // that is open or waited for
  std::uint64_t waiting_since_ = 0, patience_ = kFirstPatience;
  bool open_ = false;
  Key last_ = 0;
};

}  // namespace dlkprof::inject
