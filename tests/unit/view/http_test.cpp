#include "view/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace dlkprof::view::http_test {
namespace {

using testing::HasSubstr;

std::string request(const std::string& fields, const std::string& body = "") {
  return "POST /t/sql HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n" + body;
}

TEST(HttpTest, ARequestComesInPieces) {
  const std::string whole = request("Content-Length: 4\r\nX-A:  b \r\n", "body");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(parse_request(std::string_view(whole).substr(0, bytes)).progress, HttpProgress::more) << bytes;
  const ParsedRequest parsed = parse_request(whole);
  ASSERT_EQ(parsed.progress, HttpProgress::whole);
  EXPECT_EQ(parsed.request.method, "POST");
  EXPECT_EQ(parsed.request.target, "/t/sql");
  EXPECT_EQ(parsed.request.field("x-a"), "b");
  EXPECT_EQ(parsed.request.body, "body");
}

TEST(HttpTest, WhatIsNoRequestIsRefused) {
  for (const std::string& bytes :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/1.0\r\n\r\n"), std::string("GET http://other/ HTTP/1.1\r\n\r\n"),
        request("Host: again\r\n"), request("no colon\r\n"), request("Blank : x\r\n"), request("Content-Length: -1\r\n"),
        request("Content-Length: 4x\r\n"), request("Content-Length: 1\r\nContent-Length: 2\r\n"),
        request("Transfer-Encoding: chunked\r\n")}) {
    const ParsedRequest parsed = parse_request(bytes);
    EXPECT_EQ(parsed.progress, HttpProgress::refused) << bytes;
    EXPECT_EQ(parsed.status, 400) << bytes;
  }
}

TEST(HttpTest, WhatIsTooLongIsRefusedBeforeAllOfItHasCome) {
  EXPECT_EQ(parse_request(std::string(kMostHead + 1, 'x')).status, 431);
  EXPECT_EQ(parse_request(request("X: " + std::string(kMostHead, 'x') + "\r\n")).status, 431);
  EXPECT_EQ(parse_request(request("Content-Length: 99999999999\r\n")).status, 413);
  std::string many;
  for (int i = 0; i < 200; ++i) many += "A" + std::to_string(i) + ": b\r\n";
  EXPECT_EQ(parse_request(request(many)).status, 400);
}

TEST(HttpTest, OnlyNamesOfThisMachineAreLoopback) {
  for (const char* host : {"localhost", "LocalHost:8000", "127.0.0.1", "127.0.0.1:1", "[::1]:65535"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const char* host : {"", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example", "127.0.0.2",
                           "localhost:", "localhost:x", "localhost:123456", "localhost@evil.example"})
    EXPECT_FALSE(is_loopback_host(host)) << host;
}

TEST(HttpTest, AnswersKeepThePageToItself) {
  const std::string bytes = to_bytes({403, "application/json", "{}"});
  EXPECT_THAT(bytes, HasSubstr("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(bytes, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(bytes, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n{}"));
}

}  // namespace
}  // namespace dlkprof::view::http_test
