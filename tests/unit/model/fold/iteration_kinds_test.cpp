#include "model/fold/iteration_kinds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/aggregate/aggregate.h"
#include "model/fold/iterations.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::iteration_kinds_test {
namespace {

using test::TimelineBuilder;
using ::testing::ElementsAre;

constexpr std::int64_t kStep = 10'000;  // ns that an iteration is long, unless it is said

// Iterations that end with a range `step`, one after another.
class Loop {
 public:
  // A launch of each of these kernels.
  Loop& step(const std::vector<std::string>& kernels, std::int64_t length = kStep, std::int64_t kernel_ns = 10) {
    std::int64_t at = now_ + 10;
    for (const std::string& kernel : kernels) {
      builder_.launch(kernel, at, at + 5, at + 5 + kernel_ns);
      at += 20;
    }
    now_ += std::max(length, at - now_ + 200);
    builder_.range("step", now_ - 50, now_);
    return *this;
  }
  // The forward of a module whose embedding has so many tokens a sequence, and these kernels beside.
  Loop& forward(int tokens, const std::vector<std::string>& kernels, std::int64_t length = kStep) {
    builder_.range("dlkprof:module: Net", now_ + 10, now_ + length - 10);
    builder_.range("dlkprof:module: embed", now_ + 20, now_ + 50);
    builder_.range("aten::embedding, op_id = 3, sizes = [[100, 8], [4, " + std::to_string(tokens) + "], [], [], []]", now_ + 25,
                   now_ + 45);
    std::int64_t at = now_ + 60;
    for (const std::string& kernel : kernels) {
      builder_.launch(kernel, at, at + 5, at + 15);
      at += 20;
    }
    now_ += length;
    return *this;
  }
  [[nodiscard]] Timeline build() const { return builder_.build(); }
  [[nodiscard]] Fold folded() const { return fold(build()); }

 private:
  TimelineBuilder builder_;
  std::int64_t now_ = 0;
};

// Of each iteration; "" where it has none.
std::vector<std::string> kinds_of(const Fold& fold) {
  std::vector<std::string> names;
  for (const Iteration& iteration : fold.iterations)
    names.push_back(iteration.kind == kNone ? "" : fold.kinds[iteration.kind].name);
  return names;
}

const std::vector<std::string> kPrefill{"embed", "flash", "gemm_large", "gemm_large", "add", "sample"};
const std::vector<std::string> kDecode{"embed", "split", "gemv", "gemv", "reduce", "add"};

TEST(IterationKinds, OfOneKindThereIsNothingToTell) {
  Loop loop;
  for (int i = 0; i < 12; ++i) loop.step(kDecode);
  const Fold found = loop.folded();
  EXPECT_TRUE(found.kinds.empty());
  EXPECT_EQ(kinds_of(found), std::vector<std::string>(13));
}

TEST(IterationKinds, InterleavedOnesAreToldByTheirKernels) {
  Loop loop;
  for (int i = 0; i < 4; ++i) loop.step(kPrefill, kStep, 100).step(kDecode).step(kDecode).step(kDecode);
  const Fold found = loop.folded();
  ASSERT_EQ(found.kinds.size(), 2U);
  const std::vector<std::string> kinds = kinds_of(found);
  // Iteration 0 ends with the first step, and is not whole.
  EXPECT_THAT(std::vector(kinds.begin(), kinds.begin() + 5), ElementsAre("", "kind 2", "kind 2", "kind 2", "kind 1"));
  EXPECT_EQ(kinds.back(), "");
}

TEST(IterationKinds, ThreeAreNumberedByGpuTime) {
  Loop loop;
  for (int i = 0; i < 5; ++i)
    loop.step({"eval1", "eval2", "eval3"}, kStep, 10).step({"a", "b", "c", "d"}, kStep, 1'000).step({"x", "y", "z"}, kStep, 100);
  const Fold found = loop.folded();
  ASSERT_EQ(found.kinds.size(), 3U);
  const std::vector<std::string> kinds = kinds_of(found);
  EXPECT_THAT(std::vector(kinds.begin() + 1, kinds.begin() + 4), ElementsAre("kind 1", "kind 2", "kind 3"));
}

TEST(IterationKinds, AFewOtherKernelsMakeNoKind) {
  Loop loop;
  for (int i = 0; i < 12; ++i) {
    std::vector<std::string> kernels(20, "gemm");
    if (i % 3 == 0) kernels.insert(kernels.end(), {"[CUDA memcpy DtoH]", "log"});
    loop.step(kernels);
  }
  EXPECT_TRUE(loop.folded().kinds.empty());
}

TEST(IterationKinds, WarmUpAndWhatComesOnceAreNone) {
  Loop loop;
  for (int i = 0; i < 4; ++i) loop.step({"tune1", "tune2", "tune3"});
  for (int i = 0; i < 10; ++i) loop.step(kDecode);
  for (int i = 0; i < 4; ++i) loop.step({"save1", "save2"});
  EXPECT_TRUE(loop.folded().kinds.empty());
}

// A launch of it for every token so far, as of a kernel whose launches grow with the length.
TEST(IterationKinds, LengthsThatGrowAreOneKind) {
  Loop loop;
  for (int round = 0; round < 3; ++round) {
    loop.step(kPrefill);
    for (int tokens = 0; tokens < 10; ++tokens) {
      std::vector<std::string> kernels(40, "gemv");
      kernels.insert(kernels.end(), static_cast<std::size_t>(tokens), "attend");
      loop.step(kernels);
    }
  }
  EXPECT_EQ(loop.folded().kinds.size(), 2U);
}

TEST(IterationKinds, GridsThatDifferMuchAreNotTheSameWork) {
  Loop loop;
  for (int i = 0; i < 4; ++i) loop.step({"a", "b", "c"}).step({"a", "b", "c"}).step({"large a", "large b", "large c"});
  Timeline timeline = loop.build();
  // The same kernels by name, with another grid.
  for (const std::string name : {"a", "b", "c"}) {
    const auto at = [&](const std::string& wanted) {
      return static_cast<std::uint32_t>(
          std::find_if(timeline.kernels.begin(), timeline.kernels.end(), [&](const Kernel& one) { return one.name == wanted; }) -
          timeline.kernels.begin());
    };
    const std::uint32_t small = at(name), large = at("large " + name);
    for (Activity& activity : timeline.activities) {
      timeline.configs[activity.config].key.grid = {activity.kernel == large ? 90U : 10U, 1, 1};
      if (activity.kernel == large) activity.kernel = small;
    }
    for (Activity& activity : timeline.activities) {
      if (activity.kernel == small && timeline.configs[activity.config].kernel == large)
        timeline.configs[activity.config].key.grid.x = 90;
    }
  }
  EXPECT_EQ(fold(timeline).kinds.size(), 2U);
  for (Config& config : timeline.configs) config.key.grid.x = std::min(config.key.grid.x, 80U);  // eight times as large
  EXPECT_TRUE(fold(timeline).kinds.empty());
}

TEST(IterationKinds, PrefillAndDecodeAreNamedByTheTokensOfTheModule) {
  Loop loop;
  for (int i = 0; i < 3; ++i) loop.forward(64 + i, kPrefill).forward(1, kDecode).forward(1, kDecode);
  const Fold found = loop.folded();
  EXPECT_EQ(found.key_node, "Net");
  EXPECT_EQ(found.key_node_source, KeyNodeSource::framework);
  EXPECT_THAT(kinds_of(found),
              ElementsAre("", "decode", "decode", "prefill", "decode", "decode", "prefill", "decode", "decode", ""));
}

// Only shapes tell them apart, and prompts of different lengths stay together whatever they launch.
TEST(IterationKinds, ShapesGoBeforeKernels) {
  Loop loop;
  for (int i = 0; i < 3; ++i)
    loop.forward(64, {"a", "b", "c", std::to_string(i)}).forward(1, {"a", "b", "c"}).forward(1, {"a", "b", "c"});
  EXPECT_EQ(loop.folded().kinds.size(), 2U);
  Loop prompts;
  for (int i = 0; i < 4; ++i) {
    const std::string other = std::to_string(i % 2);
    prompts.forward(32 << i, {"g" + other, "h" + other, "i" + other}).forward(1, kDecode).forward(1, kDecode);
  }
  EXPECT_EQ(prompts.folded().kinds.size(), 2U);
}

TEST(IterationKinds, WithoutADecodeStepNoModuleEndsIterations) {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.forward(64, kPrefill);
  EXPECT_NE(loop.folded().key_node, "Net");
  Loop decoding;
  for (int i = 0; i < 5; ++i) decoding.forward(1, kDecode);
  EXPECT_NE(decoding.folded().key_node, "Net");
}

TEST(IterationKinds, ManyThatAllDifferTakeLinearTime) {
  constexpr int kIterations = 100'000, kKernels = 3;
  Timeline timeline = TimelineBuilder().build();
  Fold made;
  made.key_nodes_found = kIterations + 1;
  made.iterations.resize(kIterations + 2);
  timeline.kernels.resize(kIterations);
  for (std::uint32_t i = 0; i < kIterations; ++i) {
    for (std::uint32_t k = 0; k < kKernels; ++k) {
      timeline.activities.push_back({.start_ns = 1, .end_ns = 2, .kernel = (i * (k + 1)) % kIterations});
      made.activity_iteration.push_back(i + 1);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  find_iteration_kinds(timeline, {}, made);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_LE(made.kinds.size(), kMostKinds);
}

// Whatever is launched: all whole iterations are of exactly one kind, or none is; no kind is without iterations; and what exactly
// agrees is of one kind.
TEST(IterationKinds, PartTheWholeIterations) {
  std::mt19937 random(7);
  const auto pick = [&random](int to) { return std::uniform_int_distribution(0, to)(random); };
  std::size_t several = 0;
  for (int run = 0; run < 200; ++run) {
    Loop loop;
    std::vector<std::vector<std::string>> works(static_cast<std::size_t>(1 + pick(5)));
    for (auto& work : works) {
      for (int i = pick(12); i >= 0; --i) work.push_back("kernel" + std::to_string(pick(8)));
    }
    const int steps = pick(25);
    std::vector<std::size_t> chosen;
    for (int i = 0; i < steps; ++i) {
      chosen.push_back(static_cast<std::size_t>(pick(static_cast<int>(works.size()) - 1)));
      loop.step(works[chosen.back()]);
    }
    const Fold found = loop.folded();
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < found.iterations.size(); ++i) {
      const bool whole = i > 0 && i + 1 < found.iterations.size();
      ASSERT_EQ(found.iterations[i].kind != kNone, whole && !found.kinds.empty());
      if (found.iterations[i].kind == kNone) continue;
      seen.insert(found.iterations[i].kind);
      if (found.key_node != "step") continue;
      for (std::size_t j = 1; j < i; ++j) {
        if (works[chosen[j]] != works[chosen[i]]) continue;
        ASSERT_EQ(found.iterations[j].kind, found.iterations[i].kind);
      }
    }
    ASSERT_EQ(seen.size(), found.kinds.size());
    several += found.kinds.size() > 1 ? 1 : 0;
    ASSERT_NE(found.kinds.size(), 1U);
    // Kinds add up to the whole.
    if (found.kinds.empty()) continue;
    const Aggregate all = aggregate(loop.build(), found, {0, {}, ""});
    std::uint64_t iterations = 0;
    std::int64_t wall_ns = 0, gpu_ns = 0;
    for (const KindRow& row : all.kinds) {
      const Aggregate one = aggregate(loop.build(), found, {0, {}, found.kinds[row.kind].name});
      EXPECT_EQ(one.summary.aggregated_iterations, row.iterations);
      EXPECT_EQ(one.summary.wall_ns, row.wall_ns);
      EXPECT_EQ(one.summary.all_ops.gpu_ns, row.gpu_ns);
      EXPECT_DOUBLE_EQ(one.summary.median_iteration_ns, row.median_ns);
      iterations += row.iterations;
      wall_ns += row.wall_ns;
      gpu_ns += row.gpu_ns;
    }
    EXPECT_EQ(iterations + 2, found.iterations.size());
    EXPECT_EQ(wall_ns + iteration_length_ns(found, 0) +
                  iteration_length_ns(found, static_cast<std::uint32_t>(found.iterations.size() - 1)),
              all.summary.wall_ns);
    EXPECT_LE(gpu_ns, all.summary.all_ops.gpu_ns);
  }
  EXPECT_GT(several, 20U);
}

// --- What is made of kinds ---------------------------------------------------------------------------------------------

// Prefill is ten times as long as decode, so that lengths by themselves would call every one an outlier.
Loop serving() {
  Loop loop;
  for (int i = 0; i < 6; ++i) {
    loop.forward(64, kPrefill, 10 * kStep);
    for (int k = 0; k < 4; ++k) loop.forward(1, kDecode, kStep + 10 * k);
  }
  return loop;
}

TEST(KindsAggregated, AMedianIsOfOneKindAndAMixIsTold) {
  const Timeline timeline = serving().build();
  const Fold found = fold(timeline);
  const Aggregate all = aggregate(timeline, found);
  EXPECT_TRUE(all.is_mixed());
  EXPECT_TRUE(all.summary.mixed_kinds);
  EXPECT_EQ(all.first_iteration, 1U);
  EXPECT_EQ(all.last_iteration, 29U);
  const Aggregate prefill = aggregate(timeline, found, {{}, {}, "prefill"});
  EXPECT_FALSE(prefill.summary.mixed_kinds);
  EXPECT_NEAR(prefill.summary.median_iteration_ns, 10 * kStep, 100);
  EXPECT_EQ(prefill.summary.aggregated_iterations, 5U);
  const Aggregate decode = aggregate(timeline, found, {{}, {}, "1"});  // most GPU time
  EXPECT_EQ(found.kinds[decode.kind].name, "decode");
  EXPECT_NEAR(decode.summary.mean_iteration_ns, kStep, 100);
  EXPECT_EQ(decode.kinds, all.kinds);
  for (const OpRow& row : decode.ops) {
    for (const std::uint32_t kernel : row.others) EXPECT_NE(timeline.kernels[kernel].name, "gemm_large");
  }
}

TEST(KindsAggregated, KindsThatThereAreNotAreRefusedNamingThoseThereAre) {
  const Timeline timeline = serving().build();
  const Fold found = fold(timeline);
  for (const auto& [range, words] : {std::pair{IterationRange{{}, {}, "decoding"}, "There are: decode, prefill"},
                                     std::pair{IterationRange{1, 2, "prefill"}, "iterations 1 to 2 have none of kind prefill"},
                                     std::pair{IterationRange{{}, {}, "3"}, "no iterations of kind 3"}}) {
    try {
      (void)aggregate(timeline, found, range);
      ADD_FAILURE() << words;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.message(), ::testing::HasSubstr(words));
    }
  }
}

TEST(TokenUse, IsReadFromTheShapesOfEmbeddings) {
  EXPECT_EQ(token_use_of("[[32000, 1024], [4, 64], [], [], []]"), TokenUse::many);
  EXPECT_EQ(token_use_of("[[32000, 1024], [4, 1], [], [], []]"), TokenUse::one);
  EXPECT_EQ(token_use_of("[[32000, 1024], [2, 3, 11]]"), TokenUse::many);
  for (const char* shapes : {"", "[[32000, 1024], [64]]", "[[32000, 1024], []]", "[[32000, 1024], [4, x]]",
                             "[[32000, 1024], [4, 0]]", "[[32000, 1024], [4, 1", "[4, 1]", "[[32000, 1024]]", "], [1, 1]"})
    EXPECT_EQ(token_use_of(shapes), TokenUse::unknown) << shapes;
  EXPECT_EQ(TokenUse::one + TokenUse::many, TokenUse::mixed);
  EXPECT_EQ(TokenUse::unknown + TokenUse::one, TokenUse::one);
  EXPECT_EQ(TokenUse::mixed + TokenUse::unknown, TokenUse::mixed);
}

}  // namespace
}  // namespace dlkprof::model::iteration_kinds_test
