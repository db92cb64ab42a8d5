#include "report/ops/top_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "report/format/layout.h"
#include "support/golden.h"
#include "support/sample_fold.h"

namespace dlkprof::report::top_ops_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(TopOps, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("top_ops.txt", top_ops(sample));
}

TEST(TopOps, AreAtMostTen) {
  model::Profile sample = test::sample_fold();
  sample.aggregate.ops.resize(25, sample.aggregate.ops.front());
  const std::string text = top_ops(sample);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 22);
  EXPECT_THAT(text, HasSubstr("and 15 more ops with GPU time"));
}

TEST(TopOps, ThoseWithoutGpuTimeAreNeitherShownNorCounted) {
  model::Profile sample = test::sample_fold();
  sample.aggregate.ops.resize(12, sample.aggregate.ops.front());
  for (std::size_t i = 9; i < 12; ++i) sample.aggregate.ops[i].gpu = {};
  const std::string text = top_ops(sample);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 9);
  EXPECT_THAT(text, Not(HasSubstr("more ops")));
}

TEST(TopOps, KeepTheEndOfALongName) {
  model::Profile sample = test::sample_fold();
  sample.fold.ops[0].name = std::string(200, 'x') + "/\xC3\xA4tsch/aten::cudnn_convolution";
  sample.fold.ops[1].type = std::string(200, 'y');
  const std::string text = top_ops(sample);
  EXPECT_THAT(text, HasSubstr("\xC3\xA4tsch/aten::cudnn_convolution\n"));
  EXPECT_EQ(valid_utf8(text), text);
  for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(TopOps, NothingIsMadeUp) {
  model::Profile sample = test::sample_fold();
  sample.aggregate.summary.all_ops.gpu_ns = 0;
  sample.aggregate.ops[0].gpu = {};
  EXPECT_THAT(top_ops(sample), Not(HasSubstr("nan")));
  sample.aggregate.ops.clear();
  EXPECT_THAT(top_ops(sample), IsEmpty());
}

}  // namespace
}  // namespace dlkprof::report::top_ops_test
