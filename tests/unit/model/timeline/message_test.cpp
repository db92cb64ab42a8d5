#include "model/timeline/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/fold/fold.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::message_test {
namespace {

// A program of two iterations, with whole messages or split ones.
Fold fold_of(bool split, const std::string& domain) {
  test::TimelineBuilder builder;
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(10 + i), op = ", op_id = " + n;
    builder.range("Optimizer.zero_grad#SGD.zero_grad" + op, 1000 * i, 1000 * i + 10);
    builder.range("aten::mm, seq = " + n + op, 1000 * i + 20, 1000 * i + 90, 0, {domain});
    builder.launch("gemm", 1000 * i + 30, 1000 * i + 40, 1000 * i + 60);
    builder.range("MmBackward0, seq = " + n + op, 1000 * i + 100, 1000 * i + 190);
    builder.launch("gemm", 1000 * i + 130, 1000 * i + 140, 1000 * i + 160);
  }
  Timeline timeline = builder.build();
  for (Range& range : timeline.ranges) {
    if (!split) continue;
    std::array<char, 256> room{};
    const capture::SplitMessage message = capture::split_message(timeline.strings[range.message], room);
    const std::string text(message.text);
    range.sequence = message.sequence;
    range.op_id = message.op_id;
    range.message =
        static_cast<std::uint32_t>(std::find(timeline.strings.begin(), timeline.strings.end(), text) - timeline.strings.begin());
    if (range.message == timeline.strings.size()) timeline.strings.push_back(text);
  }
  return fold(timeline);
}

std::string described(const Fold& fold) {
  std::string text;
  for (const OpInstance& instance : fold.instances) {
    const Op& op = fold.ops[instance.op];
    text += op.id + " " + op.name + " " + std::to_string(instance.iteration) + " " + std::to_string(instance.forward) + "\n";
  }
  return text;
}

TEST(SplitMessage, FoldsAsTheWholeOne) {
  EXPECT_EQ(described(fold_of(true, "")), described(fold_of(false, "")));
  EXPECT_NE(described(fold_of(true, "")).find("/aten::mm 1"), std::string::npos) << described(fold_of(true, ""));
}

TEST(SplitMessage, NumbersAreAPartOfTheNamesOfOthers) {
  EXPECT_EQ(described(fold_of(true, "theirs")), described(fold_of(false, "theirs")));
  EXPECT_NE(described(fold_of(true, "theirs")).find("aten::mm, seq = 11, op_id = 11"), std::string::npos);
}

}  // namespace
}  // namespace dlkprof::model::message_test
