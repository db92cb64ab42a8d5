#include "model/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "model/fold.h"
#include "support/timeline_builder.h"

namespace dlkprof::model {
namespace {

std::string joined(const SplitMessage& split) { return join_message(split.text, split.sequence, split.op_id); }

TEST(SplitMessage, KeepsTheNumbersApart) {
  const std::string message = "aten::mm, seq = 7, op_id = 9, sizes = [[4, 8], []], input_op_ids = [(5,0), (0,-1), (12,1)]";
  const SplitMessage split = split_message(message);
  EXPECT_EQ(split.text, "aten::mm, seq = , op_id = , sizes = [[4, 8], []], input_op_ids = [(-4,0), (0,-1), (12,1)]");
  EXPECT_EQ(split.sequence, 7U);
  EXPECT_EQ(split.op_id, 9U);
  EXPECT_EQ(joined(split), message);
}

TEST(SplitMessage, IsTheSameTextEachTimeAround) {
  EXPECT_EQ(split_message("a, seq = 1, op_id = 10, input_op_ids = [(9,0)]").text,
            split_message("a, seq = 812, op_id = 4000, input_op_ids = [(3999,0)]").text);
}

TEST(SplitMessage, EitherNumberMayBeMissing) {
  EXPECT_EQ(split_message("a, b, op_id = 0").text, "a, b, op_id = ");
  EXPECT_EQ(split_message("a, b, op_id = 0").sequence, kNone);
  EXPECT_EQ(split_message("a, seq = 4294967294, sizes = [[1]]").sequence, kNone - 1);
  EXPECT_EQ(split_message("a, seq = 3, input_op_ids = [(2,0)]").text, "a, seq = , input_op_ids = [(2,0)]");
}

TEST(SplitMessage, IsUndoneWhateverTheMessage) {
  for (const std::string message :
       {"", "step", "a, seq = ", "a, seq = x", "a, seq = -1", "a, seq = 007", "a, seq = 4294967295, op_id = 1",
        "a, op_id = 1, seq = 2", "a, seq = 1, op_id = 2, op_id = 3", "a, seq = 1, seq = 2", ", seq = 1", "a, op_id = 5(-3,0)",
        "a, op_id = 9, input_op_ids = [(-4,0)]", "a, op_id = 9, input_op_ids = [(05,0), (8,(7,(",
        "a, op_id = 99999999999999999999", "a, seq = 1, sizes = , op_id = 3", "a, sizes = [[1]], op_id = 3",
        "a, op_id = 9, input_op_ids = [(9,0), (10,0), (1,0)]"}) {
    EXPECT_EQ(joined(split_message(message)), message);
  }
}

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
    SplitMessage message = split_message(timeline.strings[range.message]);
    range.sequence = message.sequence;
    range.op_id = message.op_id;
    range.message = static_cast<std::uint32_t>(std::find(timeline.strings.begin(), timeline.strings.end(), message.text) -
                                               timeline.strings.begin());
    if (range.message == timeline.strings.size()) timeline.strings.push_back(std::move(message.text));
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
}  // namespace dlkprof::model
