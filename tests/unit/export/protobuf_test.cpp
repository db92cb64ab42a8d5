#include "export/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/formats.h"

namespace dlkprof::exports {
namespace protobuf_test {

std::string written(const auto& fill) {
  std::string out;
  Message message(out);
  fill(message);
  return out;
}

// The examples of the encoding's own description (protobuf.dev, "Encoding").
TEST(Protobuf, WritesTheDocumentedExamples) {
  EXPECT_EQ(written([](Message& it) { it.number(1, 150); }), std::string("\x08\x96\x01"));
  EXPECT_EQ(written([](Message& it) { it.text(2, "testing"); }), std::string("\x12\x07testing"));
  EXPECT_EQ(written([](Message& it) { it.message(3, [](Message& inner) { inner.number(1, 150); }); }),
            std::string("\x1a\x03\x08\x96\x01"));
}

TEST(Protobuf, WritesDoublesAndWideNumbers) {
  EXPECT_EQ(written([](Message& it) { it.real(1, 1.0); }), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
  EXPECT_EQ(written([](Message& it) { it.number(1, ~std::uint64_t{0}); }), std::string("\x08") + std::string(9, '\xff') + "\x01");
  EXPECT_EQ(written([](Message& it) { it.number(3000, 1); }), std::string("\xc0\xbb\x01\x01"));
}

TEST(Protobuf, LengthsOfLongMessagesTakeTheirPlace) {
  for (const std::size_t size : {127U, 128U, 20000U}) {
    const std::string text(size, 'x');
    const std::string nested = written([&](Message& it) { it.message(1, [&](Message& inner) { inner.text(2, text); }); });
    const std::string flat = written([&](Message& it) { it.text(1, written([&](Message& inner) { inner.text(2, text); })); });
    EXPECT_EQ(nested, flat) << size;
  }
}

TEST(Gzip, IsNoLongerThanWhatItPacksByMuchAndSaysWhatItIs) {
  std::string packed;
  pack_gzip([&packed](std::string_view piece) { packed += piece; },
            [](const report::Sink& sink) {
              for (int i = 0; i < 1000; ++i) sink(std::string(1000, 'a'));
            });
  EXPECT_THAT(packed, testing::StartsWith("\x1f\x8b\x08"));
  EXPECT_LT(packed.size(), 10'000U);
}

}  // namespace protobuf_test
}  // namespace dlkprof::exports
