// Against texts that PyTorch 2.11 wrote itself: tests/data/markers, and what their neighbours would be.
#include "pytorch/range_texts.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

#include "capture/message.h"

namespace torch::profiler::impl {
namespace {

namespace capture = dlkprof::capture;
using Shapes = std::vector<std::vector<std::int64_t>>;

TEST(RangeTexts, Shapes) {
  EXPECT_EQ(shapesToStr({}), "[]");
  EXPECT_EQ(shapesToStr({{}}), "[[]]");
  EXPECT_EQ(shapesToStr({{4, 3, 32, 32}, {}, {1}}), "[[4, 3, 32, 32], [], [1]]");
  EXPECT_EQ(shapesToStr({{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), 0, -1}}),
            "[[9223372036854775807, -9223372036854775808, 0, -1]]");
}

TEST(RangeTexts, InputsAreLeftOutAsTheyAreOfMessages) {
  const std::string fields =
      ", op_id = 7, sizes = " + shapesToStr({{3}}) + ", input_op_ids = " + inputOpIdsToStr({{0, -1}, {2, 0}});
  EXPECT_EQ(fields, ", op_id = 7, sizes = [[3]], input_op_ids = []");
  std::array<char, 100> room;
  EXPECT_EQ(capture::split_message("aten::relu" + fields, room).text, "aten::relu, op_id = , sizes = [[3]]");
}

TEST(RangeTexts, ManyNumbers) {
  EXPECT_EQ(shapesToStr(Shapes(100'000, {1, 2})).size(), 100'000 * std::string_view("[1, 2], ").size());
}

// The numbers of a text, and where a list inside it ends.
Shapes shapes_in(std::istringstream text) {
  Shapes shapes;
  for (char sign = 0; text >> sign;) {
    if (sign == '[') shapes.emplace_back();
    if (sign != '[' && sign != ',') continue;
    if (std::int64_t number = 0; text >> number) shapes.back().push_back(number);
    text.clear();
  }
  return shapes;
}

// The field of a message as PyTorch wrote it, or nothing.
std::string field(std::string_view message, std::string_view name, std::string_view end) {
  const std::size_t begin = message.find(name);
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = message.substr(begin + name.size());
  return std::string(rest.substr(0, rest.find(end) + end.size()));
}

TEST(RangeTexts, AsPyTorchWroteThem) {
  std::ifstream file(DLKPROF_SOURCE_DIR "/tests/data/markers/pytorch_2.11_emit_nvtx.txt");
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (const std::string sizes = field(line, ", sizes = ", "]]"); !sizes.empty()) {
      EXPECT_EQ(shapesToStr(shapes_in(std::istringstream(sizes.substr(1, sizes.size() - 2)))), sizes) << line;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace torch::profiler::impl
