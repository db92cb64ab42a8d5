// Writes a capture of some 100 kB that is made to take all memory or time of whoever reads it: bomb_capture <kind> <folder>.
#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "capture/encoding.h"
#include "capture/events.h"
#include "capture/samples.h"
#include "support/sample_capture.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kFileBytes = 100'000;
constexpr std::uint32_t kBatch = 1U << 16U;

// Records in a row, until the file has its size.
class Bomb {
 public:
  explicit Bomb(std::uint32_t seed) : random_(seed) {
    bytes_ = capture::encode_file_header();
    capture::ProcessRecord process;
    process.arguments = {"python"};
    add(process);
    add(test::h200());
  }

  // False where it does not fit any more.
  bool add(const capture::Record& record) {
    const std::vector<std::uint8_t> more = capture::encode_record(record);
    if (bytes_.size() + more.size() > kFileBytes) return false;
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return true;
  }

  // Batches of fill(event, number), each of which packs no better than is believed.
  template <typename Event>
  void fill(const std::function<void(Event&, std::uint64_t)>& fill_one, std::size_t most = ~std::size_t{0}) {
    for (std::uint64_t number = 0; number < most;) {
      std::vector<Event> events(std::min<std::size_t>(kBatch, most - number));
      for (Event& event : events) fill_one(event, number++);
      if (!add(capture::pack_events(std::span<const Event>(events)))) return;
    }
  }
  std::uint32_t noise(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  void text(std::uint32_t id, std::string text) { add(capture::StringsRecord{{{id, std::move(text)}}}); }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::mt19937 random_;
  std::vector<std::uint8_t> bytes_;
};

capture::RangeEvent range_of(Bomb& bomb, std::uint64_t number, std::uint32_t name) {
  capture::RangeEvent range;
  range.id = number + 1;
  range.thread = 1;
  range.name = name;
  range.category = bomb.noise(8);  // nobody looks at it
  range.start_ns = static_cast<std::int64_t>(1000 + number);
  range.end_ns = range.start_ns + 1;
  return range;
}

void nested_ranges(Bomb& bomb, std::uint64_t depth) {
  bomb.text(1, std::string(4000, 'n'));
  bomb.fill<capture::RangeEvent>([&](capture::RangeEvent& range, std::uint64_t number) {
    const std::uint64_t level = number % depth;
    range = range_of(bomb, number, 1);
    range.parent = level == 0 ? 0 : number;
    const auto first = static_cast<std::int64_t>(1000 + (number - level) * 4);
    range.start_ns = first + static_cast<std::int64_t>(level);
    range.end_ns = first + static_cast<std::int64_t>(3 * depth - level);
  });
}

void activity_at(capture::ActivityEvent& activity, std::uint64_t number) {
  activity.correlation = static_cast<std::uint32_t>(number + 1);
  activity.start_ns = static_cast<std::int64_t>(1000 + 2 * number);
  activity.end_ns = activity.start_ns + 1;
  activity.name = 1;
}

// Each kernel with a launch configuration of its own.
void configurations(Bomb& bomb) {
  bomb.text(1, test::kTiledGemm);
  bomb.fill<capture::ActivityEvent>([&](capture::ActivityEvent& activity, std::uint64_t number) {
    activity_at(activity, number);
    activity.grid.x = static_cast<std::uint32_t>(number);
    activity.stream = bomb.noise(2);
  });
}

// Launches in ranges, each on a thread of its own.
void launches(Bomb& bomb, std::uint32_t threads) {
  bomb.text(1, test::kRelu);
  bomb.text(2, "iteration");
  constexpr std::size_t kLaunches = 90'000;
  bomb.fill<capture::RangeEvent>(
      [&](capture::RangeEvent& range, std::uint64_t number) {
        range = range_of(bomb, number, 2);
        range.thread = static_cast<std::uint32_t>(number % threads);
        range.start_ns = static_cast<std::int64_t>(1000 + 10 * number);
        range.end_ns = range.start_ns + 9;
      },
      kLaunches);
  bomb.fill<capture::CallEvent>(
      [&](capture::CallEvent& call, std::uint64_t number) {
        call.correlation = static_cast<std::uint32_t>(number + 1);
        call.range = number + 1;
        call.thread = static_cast<std::uint32_t>(number % threads);
        call.start_ns = static_cast<std::int64_t>(1001 + 10 * number);
        call.end_ns = call.start_ns + 2;
        call.name = 2;
        call.launch_index = number;
        call.function = bomb.noise(8);
      },
      kLaunches);
  bomb.fill<capture::ActivityEvent>(
      [&](capture::ActivityEvent& activity, std::uint64_t number) {
        activity_at(activity, number);
        activity.start_ns = static_cast<std::int64_t>(1003 + 10 * number);
        activity.end_ns = activity.start_ns + 3;
        activity.context = bomb.noise(8);
      },
      kLaunches);
}

// Of one column each, which an older writer might have written: the smallest event there can be.
void columns(Bomb& bomb) {
  for (bool fits = true; fits;) {
    std::vector<capture::RangeEvent> events(kBatch);
    fits = bomb.add(capture::pack_events(std::span<const capture::RangeEvent>(events)));
  }
}

void samples(Bomb& bomb) {
  constexpr std::uint32_t kMetrics = 40, kSamples = 1U << 16U;
  bomb.add(capture::MetricSetRecord{1, 0, 1, std::vector<std::string>(kMetrics, "sm__cycles_active.avg"), {}});
  for (std::int64_t at = 1000;; at += kSamples) {
    capture::SampleBatch batch;
    for (std::uint32_t i = 0; i < kSamples; ++i) {
      batch.start_ns.push_back(at + i);
      batch.length_ns.push_back(1 + bomb.noise(2));
    }
    batch.values.assign(kMetrics, std::vector<float>(kSamples, 1.0F));
    capture::SamplesRecord record = capture::pack_samples(batch);
    record.metric_set = 1;
    record.interval_ns = 1;
    if (!bomb.add(record)) return;
  }
}

// Images of 96 MB in 3 kB.
void images(Bomb& bomb) {
  const std::vector<std::uint8_t> image(std::size_t{96} << 20U);
  const std::vector<std::uint8_t> packed = capture::pack_image(image);
  bomb.add(capture::MetricSetRecord{1, 0, 1, {"gpu__time_duration.sum"}, {}});
  for (std::uint64_t index = 0;; ++index) {
    capture::RawCountersRecord raw{index, 1, image.size(), packed, index == 0 ? capture::kNoBase : 0};
    if (!bomb.add(raw)) return;
  }
}

void names(Bomb& bomb) {
  for (std::uint32_t id = 1; bomb.add(test::function(id, "_Z1f" + std::string(4080, 'P') + "i")); ++id) {
  }
}

const std::map<std::string_view, void (*)(Bomb&)> kBombs{
    {"columns", columns},
    {"configurations", configurations},
    {"images", images},
    {"launches", [](Bomb& bomb) { launches(bomb, 1); }},
    {"names", names},
    {"nest", [](Bomb& bomb) { nested_ranges(bomb, 1'000'000); }},
    {"nests", [](Bomb& bomb) { nested_ranges(bomb, 1000); }},
    {"samples", samples},
    {"threads", [](Bomb& bomb) { launches(bomb, 1'000'000); }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 3 ? kBombs.find(argv[1]) : kBombs.end();
  if (found == kBombs.end()) {
    fmt::print(stderr, "usage: bomb_capture <kind> <file>; kinds:");
    for (const auto& [name, make] : kBombs) fmt::print(stderr, " {}", name);
    fmt::print(stderr, "\n");
    return 2;
  }
  try {
    Bomb bomb(1);
    found->second(bomb);
    write_all(create_private(argv[2]).get(), bomb.bytes(), argv[2]);
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "bomb_capture: {}\n", failure.what());
    return 1;
  }
}
