#include "inject/timeline/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_directory.h"
#include "unit/inject/captured_log.h"

namespace dlkprof::inject::event_log_test {
namespace {

using test::CapturedLog;
using test::numbered_range;
using test::on_other_thread;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

void add_ranges(EventLog& log, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) log.add(numbered_range(i));
}

TEST(EventLog, IsWrittenByItsOwnThreadWhenAsked) {
  CapturedLog captured;
  captured.open();
  const auto bytes = [&] { return std::filesystem::file_size(captured.files().front()); };
  for (int round = 1; round <= 2; ++round) {
    const auto before = bytes();
    add_ranges(captured.log(), 100);
    captured.log().flush_soon();
    for (int tries = 0; bytes() == before && tries < 10'000; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(bytes(), before);
  }
  EXPECT_THAT(captured.flushed().ranges, SizeIs(200));
}

std::size_t threads_of_process() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

// Before its thread begins, in the middle and afterwards: what it had to write stands there as a whole or not at all, nothing is
// written any more, and the thread is gone.
TEST(EventLog, EndsWhileItIsToBeWritten) {
  std::thread([] {}).join();  // ThreadSanitizer begins one of its own with the first
  const std::size_t threads = threads_of_process();
  std::size_t written_rounds = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const test::TemporaryDirectory directory;
    const auto file = directory.path() / "dlkprof.dlkcap";
    capture::ProfileOptions options;
    options.output_directory = directory.path().string();
    const auto recorder = std::make_unique<Recorder>(options, 0, 0);  // on the heap as in captured_log.h
    recorder->append(capture::ClockRecord{});
    const auto empty = std::filesystem::file_size(file);
    {
      const auto log = std::make_unique<EventLog>(*recorder);
      add_ranges(*log, 100);
      log->flush_soon();
      std::this_thread::sleep_for(std::chrono::microseconds(round % 40 * 10));
      const bool waits = round == kRounds - 1;  // however slow the machine is, it is written once
      for (int tries = 0; waits && std::filesystem::file_size(file) == empty && tries < 10'000; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto bytes = std::filesystem::file_size(file);
    // The kernel may still list a thread for a moment after it was joined.
    for (int tries = 0; threads_of_process() > threads && tries < 1000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_LE(threads_of_process(), threads);  // one of an earlier test may have been among them
    EXPECT_EQ(std::filesystem::file_size(file), bytes);
    const auto written = test::read_events(file);  // which finds what is damaged or cut
    if (written.ranges.empty()) continue;
    ++written_rounds;
    ASSERT_THAT(written.ranges, SizeIs(100));
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(written.ranges[i].id, i);
  }
  EXPECT_GT(written_rounds, 0U) << "nothing was ever written in time";
}

TEST(EventLog, OpensNoCapture) {
  CapturedLog captured;
  add_ranges(captured.log(), 10'000);
  captured.log().add(capture::Fact{"nvtx", "thread 1", "loader"});
  captured.log().flush();
  EXPECT_THAT(captured.files(), IsEmpty());

  captured.open();
  const auto written = captured.flushed();
  EXPECT_THAT(written.ranges, SizeIs(10'000));
  EXPECT_EQ(written.ranges.back().id, 9'999U);
  EXPECT_THAT(written.facts, ElementsAre(capture::Fact{"nvtx", "thread 1", "loader"}));
  EXPECT_THAT(captured.flushed().ranges, SizeIs(10'000)) << "flushing again writes nothing again";
}

TEST(EventLog, HoldsSoManyUntilThereIsACaptureAndSaysWhatItLeftOut) {
  CapturedLog captured;
  add_ranges(captured.log(), EventLog::kMostHeld + 10);
  captured.open();
  testing::internal::CaptureStderr();
  captured.log().flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("10 events"));
  add_ranges(captured.log(), capture::kEventsInABatch);
  const auto written = captured.flushed();
  EXPECT_THAT(written.ranges, SizeIs(EventLog::kMostHeld + capture::kEventsInABatch));
  ASSERT_THAT(written.notices, SizeIs(1));
  EXPECT_EQ(written.notices[0].detail, "10 events");
}

TEST(EventLog, KeepsEveryFieldOfEveryKind) {
  CapturedLog captured;
  captured.open();
  auto& log = captured.log();
  const capture::RangeEvent range{.id = 7, .name = log.intern_passing("range"), .start_ns = 1, .end_ns = 2};
  const capture::CallEvent call{.correlation = 3, .range = 7, .name = log.intern("cuLaunchKernel"), .launch_index = 0};
  const capture::ActivityEvent work{.kind = capture::ActivityKind::copy, .correlation = 3, .start_ns = 4, .bytes = 5};
  log.add(range);
  log.add(call);
  log.add(work);
  const auto written = captured.flushed();
  EXPECT_THAT(written.ranges, ElementsAre(range));
  EXPECT_THAT(written.calls, ElementsAre(call));
  EXPECT_THAT(written.activities, ElementsAre(work));
}

TEST(EventLog, WritesFullBatchesUnasked) {
  CapturedLog captured;
  captured.open();
  {
    const auto log = std::make_unique<EventLog>(captured.recorder());
    add_ranges(*log, 2 * capture::kEventsInABatch + 1);
  }
  const auto written = captured.written();
  EXPECT_THAT(written.ranges, SizeIs(2 * capture::kEventsInABatch));
  EXPECT_EQ(written.batches, 2U);
}

TEST(EventLog, WaitsForACaptureThatIsSlow) {
  constexpr std::uint64_t kEvents = 50 * capture::kEventsInABatch;
  CapturedLog captured;
  captured.open();
  captured.recorder().lock();
  std::thread program([&] { add_ranges(captured.log(), kEvents); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  captured.recorder().unlock();
  program.join();
  const auto ranges = captured.flushed().ranges;
  ASSERT_THAT(ranges, SizeIs(kEvents));
  for (std::uint64_t i = 0; i < kEvents; ++i) ASSERT_EQ(ranges[i].id, i);
}

TEST(EventLog, TakesNothingAfterFinish) {
  CapturedLog captured;
  captured.open();
  add_ranges(captured.log(), 3);
  captured.log().finish();
  add_ranges(captured.log(), 2 * capture::kEventsInABatch);
  EXPECT_EQ(captured.log().intern_passing("late"), 0U);
  EXPECT_THAT(captured.flushed().ranges, SizeIs(3));
}

TEST(EventLog, HoldsSoManyThreadsThatHaveEnded) {
  CapturedLog captured;
  for (std::size_t i = 0; i < EventLog::kMostThreads + 7; ++i) on_other_thread([&] { add_ranges(captured.log(), 2); });
  captured.open();
  testing::internal::CaptureStderr();
  EXPECT_THAT(captured.flushed().ranges, SizeIs(2 * EventLog::kMostThreads));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("14 events"));
}

TEST(EventLog, FinishWritesRangesThatHaveNoEnd) {
  CapturedLog captured;
  captured.open();
  captured.log().add(capture::RangeEvent{.id = 7, .start_ns = 5, .end_ns = kStillOpen});
  EXPECT_THAT(captured.flushed().ranges, IsEmpty());
  captured.log().finish();
  const auto ranges = captured.flushed().ranges;
  ASSERT_THAT(ranges, SizeIs(1));
  EXPECT_EQ(ranges[0].id, 7U);
  EXPECT_EQ(ranges[0].end_ns, 0);
}

TEST(EventLog, KeepsWhatThreadsGatheredThatHaveEnded) {
  CapturedLog captured;
  on_other_thread([&] { add_ranges(captured.log(), 3); });
  captured.open();
  EXPECT_THAT(captured.flushed().ranges, SizeIs(3));
}

TEST(EventLog, TakesEventsOfThreadsThatAreEnding) {
  struct AtTheEnd {
    EventLog* log = nullptr;
    ~AtTheEnd() {
      for (std::uint64_t i = 0; log != nullptr && i < 1000; ++i) log->add(numbered_range(1 + i));
    }
  };
  CapturedLog captured;
  captured.open();
  on_other_thread([&] {
    static thread_local AtTheEnd last;  // made first, and so destroyed last
    last.log = &captured.log();
    captured.log().add(numbered_range(0));
  });
  const auto ranges = captured.flushed().ranges;
  ASSERT_THAT(ranges, SizeIs(1001));
  EXPECT_EQ(ranges.back().id, 1000U);
}

TEST(EventLog, ThreadsGatherWhileAnotherFlushes) {
  constexpr std::uint64_t kThreads = 6, kEvents = 20'000;
  CapturedLog captured;
  std::atomic<std::uint64_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto& log = captured.log();
      for (std::uint64_t i = 0; i < kEvents; ++i) {
        auto range = numbered_range(t * kEvents + i);
        range.name = kUnreadName;
        log.add(range, i % 2 == 0 ? "shared" : std::to_string(range.id));
        if (i % 16 == 0) log.add(capture::CallEvent{.correlation = static_cast<std::uint32_t>(i)});
      }
      --running;
    });
  }
  captured.open();
  while (running > 0) {
    captured.log().flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (auto& thread : threads) thread.join();

  const auto written = captured.flushed();
  EXPECT_THAT(written.calls, SizeIs(kThreads * kEvents / 16));
  ASSERT_THAT(written.ranges, SizeIs(kThreads * kEvents));
  std::vector<std::uint64_t> next(kThreads);
  for (const auto& range : written.ranges) {
    const auto thread = range.id / kEvents;
    EXPECT_EQ(range.id % kEvents, next[thread]++) << "out of order, or twice";
    EXPECT_EQ(written.text(range.name), range.id % 2 == 0 ? "shared" : std::to_string(range.id));
  }
}

TEST(EventLog, FactsAreLimited) {
  CapturedLog captured;
  captured.open();
  for (std::size_t i = 0; i < EventWriter::kMostFacts + 5; ++i) captured.log().add(capture::Fact{"nvtx", "thread", "x"});
  EXPECT_THAT(captured.flushed().facts, SizeIs(EventWriter::kMostFacts));
}

// Runs `body` in a forked child; what it returns is the child's exit status.
int in_forked_child(const auto& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  return WEXITSTATUS(status);
}

TEST(EventLog, GoesSilentWhenTheCaptureCannotGrow) {
  CapturedLog captured;
  captured.open();
  const int result = in_forked_child([&] {
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) {
      for (std::uint64_t n = 0; n < 10'000; ++n) captured.log().add(numbered_range(n * n * 7919));
      (void)captured.log().intern_passing("more");
      captured.log().flush();
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const auto first = said.find("profiling has ended");
    return first != std::string::npos && said.find("profiling has ended", first + 1) == std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
}

TEST(EventLog, AForkedChildBeginsAnew) {
  CapturedLog captured;
  captured.open();
  auto& log = captured.log();
  const auto name = log.intern("name");
  (void)log.intern_passing("parent's");
  add_ranges(log, 5);
  log.lock();
  captured.recorder().lock();
  const int result = in_forked_child([&] {
    captured.recorder().forget();
    log.forget();
    captured.recorder().unlock();
    log.unlock();
    captured.open();
    log.add(capture::RangeEvent{.id = 100, .domain = name, .name = log.intern_passing("child's")});
    log.flush();
    return 0;
  });
  captured.recorder().unlock();
  log.unlock();
  EXPECT_EQ(result, 0);

  const auto parent = captured.flushed();
  EXPECT_THAT(parent.ranges, SizeIs(5));
  ASSERT_THAT(captured.files(), SizeIs(2));
  for (const auto& file : captured.files()) {
    if (file.filename() == "dlkprof.dlkcap") continue;
    const auto child = test::read_events(file);
    ASSERT_THAT(child.ranges, SizeIs(1));
    EXPECT_EQ(child.text(child.ranges[0].domain), "name");
    EXPECT_EQ(child.text(child.ranges[0].name), "child's");
    EXPECT_THAT(child.texts, SizeIs(2));
  }
}

}  // namespace
}  // namespace dlkprof::inject::event_log_test
