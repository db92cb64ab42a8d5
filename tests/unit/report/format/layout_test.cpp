#include "report/format/layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace dlkprof::report::layout_test {
namespace {

std::string shown(double value, const char* unit) {
  const Quantity quantity = humanize(value, unit);
  return quantity.unit.empty() ? quantity.value : quantity.value + " " + quantity.unit;
}

TEST(Humanize, ScalesBytes) {
  EXPECT_EQ(shown(0, "byte"), "0 byte");
  EXPECT_EQ(shown(999, "byte"), "999 byte");
  EXPECT_EQ(shown(6.36442e6, "byte"), "6.36 MB");
  EXPECT_EQ(shown(1.2345e12, "byte/s"), "1.23 TB/s");
  EXPECT_EQ(shown(16384, "byte/block"), "16.38 KB/block");
  EXPECT_EQ(shown(1024, "byte/second"), "1.02 KB/second");
}

TEST(Humanize, ScalesTimeAndFrequency) {
  EXPECT_EQ(shown(512, "ns"), "512 ns");
  EXPECT_EQ(shown(66656, "ns"), "66.66 us");
  EXPECT_EQ(shown(1'234'567, "ns"), "1.23 ms");
  EXPECT_EQ(shown(2.5e9, "ns"), "2.50 s");
  EXPECT_EQ(shown(1.755e9, "hz"), "1.76 GHz");
  EXPECT_EQ(shown(900, "hz"), "900 Hz");
}

TEST(Humanize, SeparatesThousands) {
  EXPECT_EQ(shown(47'779'200, "inst"), "47,779,200 inst");
  EXPECT_EQ(shown(1234.5, "cycle"), "1,234.50 cycle");
  EXPECT_EQ(shown(-1234567, ""), "-1,234,567");
  EXPECT_EQ(shown(71.254, "%"), "71.25 %");
  EXPECT_EQ(shown(999.999, ""), "1,000.00");
}

TEST(Humanize, KeepsWhatIsSmallAndWhatIsHuge) {
  EXPECT_EQ(shown(0.00123, ""), "0.0012");
  EXPECT_EQ(shown(0, ""), "0");
  EXPECT_EQ(shown(1234567890.5, ""), "1,234,567,890");
  EXPECT_EQ(shown(1e300, "inst"), "1.000e+300 inst");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity(), ""), "-");
  EXPECT_EQ(shown(NAN, "byte"), "- byte");
}

TEST(Layout, Pads) {
  EXPECT_EQ(pad_left("ab", 4), "  ab");
  EXPECT_EQ(pad_right("ab", 4), "ab  ");
  EXPECT_EQ(pad_left("abcdef", 4), "abcdef");
  EXPECT_EQ(pad_right("é", 3), "é  ");
}

TEST(Layout, WrapsBetweenWords) {
  EXPECT_EQ(wrap("one two three four", 9, 2, 0), "one two\n  three\n  four");
  EXPECT_EQ(wrap("one two", 9, 2, 4), "one\n  two");
  EXPECT_EQ(wrap("averylongword x", 5, 0, 0), "averylongword\nx");
  EXPECT_EQ(wrap("", 5, 0, 0), "");
}

TEST(Layout, CountsAndShares) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(duration(1'500'000), "1.50 ms");
  EXPECT_EQ(percent_of(1, 4), "25.0 %");
  EXPECT_EQ(percent_of(0, 4), "0 %");
  EXPECT_EQ(percent_of(4, 0), "0 %");
  EXPECT_EQ(percent_of(1, 1'000'000), "below 0.1 %");
}

TEST(Layout, ShortensFiguresToThree) {
  EXPECT_EQ(short_quantity(790'170'444, "ns"), "790 ms");
  EXPECT_EQ(short_quantity(56.14229125940382, "%"), "56.1 %");
  EXPECT_EQ(short_quantity(999'700, "ns"), "1.00 ms");
  EXPECT_EQ(short_quantity(0, "ns"), "0 ns");
  EXPECT_EQ(short_quantity(1.23e9, "byte"), "1.23 GB");
  EXPECT_EQ(short_quantity(4.811e12, "byte/s"), "4.81 TB/s");
  EXPECT_EQ(short_quantity(6.7e14, "op/s"), "670 Top/s");
  EXPECT_EQ(short_quantity(12345, "launch"), "12,345");
  EXPECT_EQ(short_quantity(-2.5e6, "ns"), "-2.50 ms");
  EXPECT_EQ(short_quantity(NAN, "ns"), "-");
}

TEST(Layout, ShortensNamesInTheMiddle) {
  EXPECT_EQ(shorten_middle("short", 5), "short");
  EXPECT_EQ(shorten_middle("abcdefghijkl", 9), "ab...ijkl");
  EXPECT_EQ(shorten_middle("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5), "...\xc3\xa9\xc3\xa9")
      << "no character is cut in two";
  EXPECT_EQ(shorten_middle("a\x1b[2Jb", 80).find('\x1b'), std::string::npos);
  for (std::size_t width = 0; width < 30; ++width) EXPECT_EQ(display_width(shorten_middle(std::string(40, 'x'), width)), width);
}

TEST(Layout, ShortensPathsToModulesAndTheLastFunction) {
  const std::string path = "/Cnn/features/2/aten::conv2d/aten::convolution bprop";
  EXPECT_EQ(shorten_path(path, 80), path);
  EXPECT_EQ(shorten_path(path, 43), "/Cnn/features/2/.../aten::convolution bprop");
  EXPECT_EQ(shorten_path(path, 42), "/Cnn/features/2/.../convolution bprop") << "a module says more than a namespace";
  EXPECT_EQ(shorten_path(path, 36), "features/2/.../convolution bprop");
  EXPECT_EQ(shorten_path(path, 24), "2/.../convolution bprop");
  EXPECT_EQ(shorten_path("/net/pools/4/aten::max_pool2d/aten::max_pool2d_with_indices", 24), "pools/4/..._with_indices");
  EXPECT_EQ(shorten_path("/Adam.step/aten::_foreach_mul_", 27), "/Adam.step/_foreach_mul_") << "nothing lies between";
  EXPECT_EQ(shorten_path("/Optimizer.step#Adam.step/aten::_foreach_mul_", 24), ".../aten::_foreach_mul_");
}

TEST(Layout, ShortensOtherPathsToTheirEnd) {
  EXPECT_EQ(shorten_path("/Llama/model/layers/*/self_attn", 24), ".../layers/*/self_attn");
  EXPECT_EQ(shorten_path("/aten::linear/aten::addmm", 20), ".../aten::addmm");
  for (std::size_t width = 0; width < 60; ++width)
    EXPECT_LE(display_width(shorten_path("/a/b/c/aten::x/aten::y fprop", width)), width);
}

TEST(ShortenPath, IsQuickOnManySlashes) {
  const std::string slashes(1'000'000, '/');
  EXPECT_LE(display_width(shorten_path(slashes + "aten::x", 24)), 24U);
  EXPECT_LE(display_width(shorten_path(slashes, 24)), 24U);
}

}  // namespace
}  // namespace dlkprof::report::layout_test
