#include "report/compare/compare_words.h"

#include <gtest/gtest.h>

#include "support/sample_runs.h"

namespace dlkprof::report {
namespace {

TEST(CompareWordsTest, RatiosAreShort) {
  EXPECT_EQ(times_text(0.0123456), "0.0123x");
  EXPECT_EQ(times_text(1), "1x");
  EXPECT_EQ(times_text(9.876), "9.88x");
  EXPECT_EQ(times_text(98.76), "98.8x");
  EXPECT_EQ(times_text(12345.6), "12,346x");
  EXPECT_EQ(share_text_of(0.0004), "below 0.1 %");
  EXPECT_EQ(share_text_of(0), "0.0 %");
  EXPECT_EQ(time_text_of(1234.4), "1.23 us");
}

TEST(CompareWordsTest, LongPathsKeepTheirEnd) {
  advise::OpFigures op = test::sample_op_figures(std::string(1U << 20U, 'x') + "/end", 1, "k");
  EXPECT_TRUE(op_words(op).ends_with("xxx/end"));
  EXPECT_LT(op_words(op).size(), 200U);
  op.name = "/short";
  EXPECT_EQ(op_words(op), "aten::convolution_backward (bprop) of /short");
}

TEST(CompareWordsTest, SamplesAreSaidWhereTheyDiffer) {
  auto runs = test::sample_runs();
  EXPECT_EQ(at_samples(advise::compare(runs[0], runs[1])), " at 128x the samples");
  EXPECT_EQ(at_samples(advise::compare(runs[0], runs[0])), "");
  runs[0].batch_size.reset();
  EXPECT_EQ(at_samples(advise::compare(runs[0], runs[1])), "");
}

}  // namespace
}  // namespace dlkprof::report
