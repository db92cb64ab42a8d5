#include "model/markers/literal.h"

#include <gtest/gtest.h>

namespace dlkprof::model::literal_test {
namespace {

TEST(Literals, AreThoseOfPythonAndJson) {
  const Literal value = parse_literal(R"( {'a': 1, "b": [True, None, -1.5e3], 'c': {'d': "it's", 'e': 'x\'y\\z'}, 'f': ()} )");
  ASSERT_EQ(value.kind, Literal::Kind::dict);
  EXPECT_EQ(value.text_of("a"), "1");
  EXPECT_EQ(list_text(*value.find("b")), "[True, None, -1.5e3]");
  EXPECT_EQ(value.find("c")->text_of("d"), "it's");
  EXPECT_EQ(value.find("c")->text_of("e"), R"(x'y\z)");
  EXPECT_EQ(list_text(*value.find("f")), "[]");
  EXPECT_EQ(value.find("g"), nullptr);
  EXPECT_EQ(value.text_of("g"), "");
  EXPECT_EQ(value.find("b")->find("True"), nullptr);
}

TEST(Literals, AreCallsToo) {
  const Literal value = parse_literal("[torch.Size([4, 3]), device(type='cuda', index=0), torch.float16, (5,)]");
  ASSERT_EQ(value.items.size(), 4);
  EXPECT_EQ(list_text(value.items[0]), "[4, 3]");
  EXPECT_EQ(value.items[1].items[0].text, "cuda");
  EXPECT_EQ(value.items[2].text, "torch.float16");
  EXPECT_EQ(list_text(value.items[3]), "[5]");
}

TEST(Literals, KeepEscapesOfWhatCannotBeShown) { EXPECT_EQ(parse_literal(R"('a\nb\u00e9\/')").text, R"(a\nb\u00e9/)"); }

TEST(Literals, ThatAreCutKeepWhatCameBefore) {
  const Literal value = parse_literal("{'a': 'whole', 'b': [1, 2, 'cut");
  EXPECT_EQ(value.text_of("a"), "whole");
  EXPECT_EQ(list_text(*value.find("b")), "[1, 2]");
}

TEST(Literals, ThatAreNoneGiveNothing) {
  for (const char* text : {"", "   ", "]", ",", "'", "=", ":"})
    EXPECT_EQ(parse_literal(text).kind, Literal::Kind::nothing) << text;
  for (const char* text : {"{", "{1, 2}", "{]", "{'a'}", "{'a' 1}"}) {
    const Literal value = parse_literal(text);
    EXPECT_EQ(value.kind, Literal::Kind::dict) << text;
    EXPECT_TRUE(value.items.empty()) << text;
  }
  EXPECT_EQ(list_text(parse_literal("[1 2]")), "[1]");
}

TEST(Literals, HaveLimits) {
  std::string deep(100000, '[');
  std::size_t depth = 0;
  const Literal nested = parse_literal(deep);
  for (const Literal* at = &nested; !at->items.empty(); at = &at->items[0]) ++depth;
  EXPECT_LE(depth, kMaxLiteralDepth);
  std::string wide = "[";
  for (int i = 0; i < 200000; ++i) wide += "1,";
  EXPECT_LE(parse_literal(wide).items.size(), kMaxLiteralItems);
}

}  // namespace
}  // namespace dlkprof::model::literal_test
