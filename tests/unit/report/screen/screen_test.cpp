// The screen of every kind of profile there is.
#include "report/screen/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "base/text.h"
#include "model/aggregate/aggregate.h"
#include "model/timeline/timeline.h"
#include "support/diagnosed_run.h"
#include "support/golden.h"
#include "support/pc_samples.h"

namespace dlkprof::report::screen_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kTensorPipe = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kLength = "gpu__time_duration.sum";

std::string screen_of(const model::Profile& profile, std::size_t width = 80) {
  const std::string text = screen(profile, "run.dlkcap", {.width = width, .styled = false});
  const std::vector<std::string> lines = split(text, '\n');
  EXPECT_LE(lines.size(), kScreenLines + 1) << text;  // and nothing after the last end of a line
  for (const std::string& line : lines) EXPECT_LE(display_width(line), width) << line;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr(" 0.0 %"))) << "nothing of 0.0 % is shown";
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  return text;
}

// Ten iterations of a net with a GEMM and a copy in modules; the GPU works for most of each.
test::TimelineBuilder busy_program() {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = 1000 * i;
    builder.range("dlkprof:module: Net", at, at + 50).range("dlkprof:module: fc", at + 1, at + 21);
    builder.range("dlkprof:module: act", at + 21, at + 49);
    builder.range("aten::mm, seq = 1, op_id = 1, sizes = [[4, 8]]", at + 2, at + 20);
    builder.launch("gemm", at + 3, at + 10, at + 710);
    builder.range("aten::relu, seq = 2, op_id = 2, sizes = [[4, 8]]", at + 22, at + 40);
    builder.launch("relu", at + 23, at + 720, at + 920);
    builder.range(test::kIterationEnd, at + 60, at + 70);
  }
  return builder;
}

TEST(Screen, OfOpsAndCounters) {
  test::TimelineBuilder builder = busy_program();
  const std::vector<model::MeasuredLaunch> once{{.replay_mode = capture::ReplayMode::kernel}};
  builder.measured("gemm", test::kSmThroughput, {72}).measured("gemm", test::kMemoryThroughput, {30});
  builder.measured("gemm", kTensorPipe, {60}).measured("gemm", kOccupancy, {23.4}).launches_measured("gemm", once);
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, StartsWith("The GPU works 9"));
  EXPECT_THAT(text, HasSubstr("bound by compute"));
  EXPECT_THAT(text, HasSubstr("compute 72 %  yes     23.4 %"));
  EXPECT_THAT(text, HasSubstr("(no)")) << "what is known by name looks different";
  EXPECT_THAT(text, HasSubstr("( ): by name, not counted."));
  EXPECT_THAT(text, HasSubstr("1 launch by kernel replay"));
  EXPECT_THAT(text, HasSubstr("--kernels "));
}

// Copies have no counters: how much was measured is said of kernels, and how much copies take beside it.
TEST(Screen, OfCopies) {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) {
    builder.launch("gemm", 1000 * i, 1000 * i + 10, 1000 * i + 310).launch("relu", 1000 * i + 5, 1000 * i + 310, 1000 * i + 410);
    builder.launch("[CUDA memcpy HtoD]", 1000 * i + 8, 1000 * i + 410, 1000 * i + 510);
    builder.range(test::kIterationEnd, 1000 * i + 60, 1000 * i + 70);
  }
  builder.measured("gemm", kTensorPipe, {60}).launches_measured("gemm", {{.replay_mode = capture::ReplayMode::kernel}});
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  std::string text = screen_of(run.profile(), 132);
  EXPECT_THAT(text, HasSubstr("60.0 % of it in tensor-core kernels, 20.0 % in copies and sets"));
  EXPECT_THAT(text, HasSubstr("Measured    75.0 % of the kernels' GPU time: 1 launch by kernel replay"));
  run.timeline().measured.begin()->second.at(kTensorPipe) = {0};
  text = screen_of(run.profile(), 132);
  EXPECT_THAT(text, HasSubstr("of GPU time per iteration; 20.0 % of it in copies and sets"));
}

TEST(Screen, OfATimelineAlone) {
  test::DiagnosedRun run(busy_program());
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  EXPECT_THAT(screen_of(run.profile()), HasSubstr("Measured    no launch, though counters were asked for"));
  run.timeline().processes.front().graph_launches = 1;
  EXPECT_THAT(screen_of(run.profile()), HasSubstr("Measured    no launch, as all were of CUDA graphs"));
  run.timeline().processes.front().record.options_json = R"({"replay_mode": "none"})";
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("what bounds its kernels was not measured"));
  EXPECT_THAT(text, HasSubstr("Measured    no counters; launches were only timed"));
  EXPECT_THAT(text, HasSubstr("--set detailed"));
  EXPECT_THAT(text, Not(HasSubstr("--kernels ")));
}

TEST(Screen, OfALaunchBoundProgram) {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) builder.launch("k", 100 * i, 100 * i + 4, 100 * i + 14);
  test::DiagnosedRun run(builder);
  run.launched("k", {1000, 1, 1}, {32, 1, 1});
  EXPECT_THAT(screen_of(run.profile()), AllOf(StartsWith("The GPU idles 8"), HasSubstr("the program is launch-bound.")));
}

TEST(Screen, DoesNotBlameLaunchesWhereClocksAreFarApart) {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) builder.launch("k", 100 * i, 100 * i + 4, 100 * i + 14);
  test::DiagnosedRun run(builder);
  run.launched("k", {1000, 1, 1}, {32, 1, 1});
  run.timeline().processes.front().gpu_early_ns = 93'805'419;
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("times of GPU and CPU may be 93.8 ms apart"));
  EXPECT_THAT(text, Not(HasSubstr("launch-bound")));
}

TEST(Screen, SaysThatIterationsAreNotThePaceOfTheGpu) {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) {
    builder.launch("k", 100 * i, 300 * i + 10, 300 * i + 310).range(test::kIterationEnd, 100 * i + 60, 100 * i + 70);
  }
  test::DiagnosedRun run(builder);
  run.launched("k", {1000, 1, 1}, {32, 1, 1});
  const std::string condition = "Condition   the CPU runs ahead of the GPU";
  EXPECT_THAT(screen_of(run.profile({.start = 1, .stop = 8})), HasSubstr(condition));
  EXPECT_THAT(screen_of(run.profile()), Not(HasSubstr(condition))) << "the last iteration waits for the GPU";
}

// As -k without --mode leaves it: counts and measured launches, no ranges, no activities.
TEST(Screen, OfKernelsWithoutATimeline) {
  test::TimelineBuilder builder;
  const std::vector<model::MeasuredLaunch> once{{.replay_mode = capture::ReplayMode::kernel}};
  builder.launch("gemm", 0, 1, 2);
  builder.measured("gemm", test::kSmThroughput, {30}).measured("gemm", test::kMemoryThroughput, {85});
  builder.measured("gemm", kLength, {4000}).launches_measured("gemm", once);
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1});
  run.timeline().activities.clear();
  run.timeline().calls.clear();
  run.timeline().counts = {
      {.config = 0, .kernel = 0, .launches = 9, .matched = 9, .measured = 1, .timed = 8, .timed_gpu_ns = 36'000}};
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, StartsWith("100 % of the GPU time seen is bound by memory."));
  EXPECT_THAT(text, HasSubstr("40 us of GPU time seen")) << "the launch that was measured counts, too";
  EXPECT_THAT(text, HasSubstr("memory 85 %"));
  EXPECT_THAT(text, HasSubstr("--mode pytorch")) << "how to get ops";
}

// The pipe's cycles that loads of constants make (model/aggregate/tensor_core_use.h), and those of matrices: 64 a warp and more.
TEST(Screen, OfTensorCoresWithoutATimeline) {
  const auto text_with = [](double share) {
    test::TimelineBuilder builder;
    builder.launch("copy", 0, 1, 2);
    builder.measured("copy", kTensorPipe, {share}).measured("copy", "sm__cycles_active.avg", {10'000});
    builder.measured("copy", kLength, {4000}).launches_measured("copy", {{.replay_mode = capture::ReplayMode::kernel}});
    test::DiagnosedRun run(builder);
    run.launched("copy", {1000, 1, 1}, {128, 1, 1});
    run.timeline().activities.clear();
    run.timeline().calls.clear();
    run.timeline().counts = {{.config = 0, .kernel = 0, .launches = 1, .matched = 1, .measured = 1}};
    return screen_of(run.profile());
  };
  EXPECT_THAT(text_with(3), Not(HasSubstr("tensor-core kernels")));
  EXPECT_THAT(text_with(90), HasSubstr("100.0 % of it in tensor-core kernels"));
}

TEST(Screen, OfSamples) {
  test::TimelineBuilder builder = busy_program();
  builder.sampled("gemm", kOccupancy, {.samples = 40, .launches = 4, .mean = 31, .deviation = 1, .interval = 0.5});
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("GPU sampled while it ran"));
  EXPECT_THAT(text, HasSubstr("31.0 %"));
}

TEST(Screen, OfPcSamplesAlone) {
  test::DiagnosedRun run(busy_program());
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  run.timeline().pc_samples = test::small_pc_samples();
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("Measured    PC samples; no counters"));
  EXPECT_THAT(text, HasSubstr("long_scoreboard (40 % of PC samples)"));
  EXPECT_THAT(text, HasSubstr("--reports source"));
}

TEST(Screen, OfCountsOfInstructions) {
  test::DiagnosedRun run(busy_program());
  run.timeline().pc_samples = test::counted_pc_samples();
  EXPECT_THAT(screen_of(run.profile()), HasSubstr("Measured    counts of instructions; PC samples; no counters"));
  run.timeline().pc_samples.stalls.clear();
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("Measured    counts of instructions; no counters"));
  EXPECT_THAT(text, HasSubstr("--reports source"));
  EXPECT_THAT(text, HasSubstr("what each instruction did"));
}

TEST(Screen, WithoutIterations) {
  test::TimelineBuilder builder;
  builder.range("aten::mm", 0, 40).launch("gemm", 3, 10, 600).launch("relu", 13, 610, 950);
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("of the run"));
  EXPECT_THAT(text, HasSubstr("--key_node"));
  EXPECT_THAT(text, Not(HasSubstr("per iteration")));
}

TEST(Screen, OfSeveralProcesses) {
  test::TimelineBuilder builder = busy_program();
  const std::uint32_t device = builder.device();
  const std::uint32_t thread = builder.thread(builder.process());
  builder.launch("gemm", 5, 20, 720, thread, device);
  test::DiagnosedRun run(builder);
  EXPECT_THAT(screen_of(run.profile()), AllOf(HasSubstr("2 processes"), HasSubstr("2 x NVIDIA H200")));
}

TEST(Screen, OfSimpleMode) {
  test::TimelineBuilder builder = busy_program();
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1000, 1, 1}, {128, 1, 1}).launched("relu", {1000, 1, 1}, {128, 1, 1});
  run.timeline().ranges.clear();
  for (model::Call& call : run.timeline().calls) call.range = model::kNone;
  const std::string text = screen_of(run.profile());
  EXPECT_THAT(text, HasSubstr("\nkernel "));
  EXPECT_THAT(text, HasSubstr("gemm"));
}

TEST(Screen, OfNothing) {
  test::DiagnosedRun run{test::TimelineBuilder()};
  EXPECT_THAT(screen_of(run.profile()), StartsWith("The program launched no kernel: there is nothing to show."));
  run.timeline().processes.resize(1);
  run.timeline().processes[0].graph_launches = 3;
  EXPECT_THAT(screen_of(run.profile()), StartsWith("The program launched CUDA graphs alone"));
  run.timeline().counts = {{.launches = 5}};
  EXPECT_THAT(screen_of(run.profile()), StartsWith("Launches were counted, but none was timed or measured"));
}

TEST(Screen, SaysWhatWasSkippedInThreeLines) {
  test::DiagnosedRun run(busy_program());
  std::vector<model::LaunchCounts>& counts = run.timeline().counts;
  for (const auto reason : {capture::SkipReason::cooperative, capture::SkipReason::collective, capture::SkipReason::captured,
                            capture::SkipReason::failed}) {
    counts.push_back({.kernel = 0, .launches = 7, .matched = 7, .skipped = 7, .reason = reason});
  }
  for (int i = 0; i < 4; ++i) {
    run.timeline().notices.push_back(
        {.severity = capture::Severity::warning, .what = std::string(300, 'w'), .detail = "\x1b[2J", .remedy = ""});
  }
  const std::string text = screen_of(run.profile());
  const std::size_t from = text.find("Skipped     7 launches of 1 kernel: ");
  ASSERT_NE(from, std::string::npos) << text;
  const std::string lines = text.substr(from, text.find("Warning", from) - from);
  EXPECT_LE(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("and 3 more notices"));
}

TEST(Screen, QuotesTheFileForAShell) {
  test::DiagnosedRun run(busy_program());
  const std::string text = screen(run.profile(), "my run.dlkcap", {});
  EXPECT_THAT(text, HasSubstr("dlkprof report 'my run.dlkcap' with"));
}

TEST(Screen, DoesNotCutTheFileItSpeaksOf) {
  test::DiagnosedRun run(busy_program());
  const std::string file = "a/folder/of/a/long/name/" + std::string(45, 'x') + ".dlkcap";
  const std::string text = screen(run.profile(), file, {});
  EXPECT_THAT(text, HasSubstr("Next: dlkprof report with the options below, of\n  " + file + "\n  --"));
}

TEST(Screen, IsBoldOnATerminalAlone) {
  test::DiagnosedRun run(busy_program());
  EXPECT_THAT(screen(run.profile(), "run.dlkcap", {.width = 80, .styled = true}), StartsWith("\033[1mThe GPU"));
}

// What is shipped, as a new user meets it first.
class ShippedScreen : public testing::TestWithParam<const char*> {
 protected:
  static model::Profile load() {
    model::Profile profile;
    const std::filesystem::path path =
        std::filesystem::path(DLKPROF_SOURCE_DIR) / "samples" / "captures" / (std::string(GetParam()) + ".dlkcap");
    profile.timeline = model::load_timeline(std::array{path});
    profile.fold = model::fold(profile.timeline);
    profile.aggregate = model::aggregate(profile.timeline, profile.fold);
    return profile;
  }
};

TEST_P(ShippedScreen, FitsAndIsAsBefore) {
  const model::Profile profile = load();
  test::expect_golden("screen_" + std::string(GetParam()) + ".txt", screen_of(profile));
  for (const std::size_t width : {60U, 132U}) (void)screen_of(profile, width);
}

INSTANTIATE_TEST_SUITE_P(Captures, ShippedScreen,
                         testing::Values("cifar10_b4", "cifar10_b512", "cifar10_b512_iteration", "cifar10_b512_pc_sampling",
                                         "cifar10_b512_sampled", "jax_mlp"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace dlkprof::report::screen_test
