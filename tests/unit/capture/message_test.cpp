#include "capture/message.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace dlkprof::capture::message_test {
namespace {

// What becomes of a message; the room is that of its text.
struct Split {
  std::array<char, 256> room{};
  SplitMessage message;
  explicit Split(std::string_view whole) : message(split_message(whole, room)) {}
  Split(const Split&) = delete;
  Split& operator=(const Split&) = delete;
  ~Split() = default;
  [[nodiscard]] std::string joined() const { return join_message(message.text, message.sequence, message.op_id); }
};

TEST(SplitMessage, KeepsTheNumbersApart) {
  const std::string message = "aten::mm, seq = 7, op_id = 9, sizes = [[4, 8], []]";
  const Split split(message);
  EXPECT_EQ(split.message.text, "aten::mm, seq = , op_id = , sizes = [[4, 8], []]");
  EXPECT_EQ(split.message.sequence, 7U);
  EXPECT_EQ(split.message.op_id, 9U);
  EXPECT_EQ(split.joined(), message);
}

TEST(SplitMessage, IsTheSameTextEachTimeAround) {
  const std::string_view text = "a, seq = , op_id = , sizes = [[3]]";
  EXPECT_EQ(Split("a, seq = 1, op_id = 10, sizes = [[3]], input_op_ids = [(9,0), (0,-1)]").message.text, text);
  EXPECT_EQ(Split("a, seq = 812, op_id = 4000, sizes = [[3]], input_op_ids = [(7,0), (0,-1)]").message.text, text);
}

TEST(SplitMessage, LeavesOutNothingButListsOfInputs) {
  for (const std::string message : {"a, op_id = 9, input_op_ids = [(5,0)], and more", "a, op_id = 9, input_op_ids = none]",
                                    "a, op_id = 9, input_op_ids = ", "input_op_ids = [(5,0)]"}) {
    EXPECT_EQ(Split(message).joined(), message);
  }
}

TEST(SplitMessage, EitherNumberMayBeMissing) {
  EXPECT_EQ(Split("a, b, op_id = 0").message.text, "a, b, op_id = ");
  EXPECT_EQ(Split("a, b, op_id = 0").message.sequence, kNoNumber);
  EXPECT_EQ(Split("a, seq = 4294967294, sizes = [[1]]").message.sequence, kNoNumber - 1);
  EXPECT_EQ(Split("a, seq = 3, input_op_ids = [(2,0)]").message.text, "a, seq = , input_op_ids = [(2,0)]");
}

TEST(SplitMessage, IsUndoneWhateverTheMessage) {
  for (const std::string message :
       {"", "step", "a, seq = ", "a, seq = x", "a, seq = -1", "a, seq = 007", "a, seq = 4294967295, op_id = 1",
        "a, op_id = 1, seq = 2", "a, seq = 1, op_id = 2, op_id = 3", "a, seq = 1, seq = 2", ", seq = 1", "a, op_id = 5(-3,0)",
        "a, op_id = 99999999999999999999", "a, seq = 1, sizes = , op_id = 3", "a, sizes = [[1]], op_id = 3"}) {
    EXPECT_EQ(Split(message).joined(), message);
  }
}

TEST(SplitMessage, StaysWholeWithoutRoom) {
  const std::string message = "aten::mm, seq = 7, op_id = 1000, sizes = [[4, 8]]";
  for (std::size_t size = 0; size < 80; ++size) {
    std::vector<char> room(size);
    const SplitMessage split = split_message(message, room);
    EXPECT_EQ(join_message(split.text, split.sequence, split.op_id), message);
    const std::string_view text = split.text;
    EXPECT_EQ(text == message, size < std::string_view("aten::mm, seq = , op_id = , sizes = [[4, 8]]").size()) << size;
  }
}

TEST(SplitMessage, NumbersOfAHostileFileArePutWhereTheyCan) {
  EXPECT_EQ(join_message("x", 1, 2), "x");
  EXPECT_EQ(join_message("x, op_id = [(-5,0), (-0,0), (-99999999999,0), (-", 1, 3),
            "x, op_id = 3[(-5,0), (-0,0), (-99999999999,0), (-");
}

}  // namespace
}  // namespace dlkprof::capture::message_test
