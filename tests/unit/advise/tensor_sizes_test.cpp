#include "advise/tensor_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace dlkprof::advise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TensorSizes, ReadShapesAsFrameworksWriteThem) {
  EXPECT_THAT(parse_shapes("[[4, 3, 32, 32], [], [7]]"), ElementsAre(Shape{4, 3, 32, 32}, Shape{}, Shape{7}));
  EXPECT_THAT(parse_shapes("[[[2, 3], [4]], [5]]"), ElementsAre(Shape{2, 3}, Shape{4}, Shape{5}));
  EXPECT_THAT(parse_shapes("((2,3),(4,))"), ElementsAre(Shape{2, 3}, Shape{4}));
}

TEST(TensorSizes, WhatIsNoListOfShapesHasNone) {
  for (const char* text :
       {"", "[]", "[4, 3]", "[[4, 3]", "[[4]]]", "[[-1, 3]]", "[[x]]", "[[99999999999999999999999]]", "[[4, 3], [2, ..."}) {
    EXPECT_THAT(parse_shapes(text), IsEmpty()) << text;
  }
  EXPECT_THAT(parse_shapes(std::string(1'000'000, '[')), IsEmpty());
  EXPECT_THAT(parse_shapes(std::string(1'000'000, ']')), IsEmpty());
}

TEST(TensorSizes, KnowTypesByManyNames) {
  EXPECT_EQ(element_bytes("float16"), 2U);
  EXPECT_EQ(element_bytes("torch.float32"), 4U);
  EXPECT_EQ(element_bytes("c10::Half"), 2U);
  EXPECT_EQ(element_bytes("DOUBLE"), 8U);
  EXPECT_EQ(element_bytes("mystery"), std::nullopt);
  EXPECT_EQ(element_bytes(""), std::nullopt);
}

model::Op op(std::string shapes, std::string types) {
  model::Op made;
  made.input_shapes = std::move(shapes);
  made.data_types = std::move(types);
  return made;
}

TEST(TensorSizes, AddUpInputs) {
  EXPECT_EQ(input_bytes(op("[[4, 8], [8], []]", "[float16, float32, int64]")), 96) << "32 * 2 + 8 * 4";
  EXPECT_EQ(input_bytes(op("[[4, 8], [8]]", "float16")), 80) << "one type stands for all";
}

TEST(TensorSizes, WhatIsNotKnownIsNotGuessed) {
  EXPECT_EQ(input_bytes(op("[[4, 8]]", "")), std::nullopt);
  EXPECT_EQ(input_bytes(op("", "float16")), std::nullopt);
  EXPECT_EQ(input_bytes(op("[[4, 8], [8], [1]]", "[float16, float32]")), std::nullopt);
  EXPECT_EQ(input_bytes(op("[[4, 8]]", "mystery")), std::nullopt);
  EXPECT_EQ(input_bytes(op("[[]]", "float16")), std::nullopt) << "no tensor";
}

}  // namespace
}  // namespace dlkprof::advise
