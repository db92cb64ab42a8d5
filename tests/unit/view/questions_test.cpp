#include "view/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <vector>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace dlkprof::view::questions_test {
namespace {

using testing::HasSubstr;

class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() {
    for (const char* name : {"a.sqlite", "b.sqlite"}) {
      std::ofstream{folder_.path() / name};
      store::Connection made(folder_.path() / name, store::Access::build);
      made.run("CREATE TABLE t (a, b)");
      made.run("INSERT INTO t VALUES (1, 'one'), (2.5, NULL), (x'00', '\"<\\')");
    }
    questions_ = std::make_unique<Questions>(std::vector{folder_.path() / "a.sqlite", folder_.path() / "b.sqlite"});
  }

  std::string answer(const std::string& body) {
    try {
      return questions_->answer(body, bounds_, [this] { return gone_; });
    } catch (const Error& error) {
      return error.message();
    }
  }
  std::string ask(const std::string& sql, const std::string& parameters = "[]") {
    return answer(R"({"run":0,"sql":")" + sql + R"(","parameters":)" + parameters + "}");
  }

  test::TemporaryDirectory folder_;
  AnswerBounds bounds_;
  bool gone_ = false;
  std::unique_ptr<Questions> questions_;
};

constexpr const char* kEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";

TEST_F(QuestionsTest, CellsAreWhatTheyAre) {
  EXPECT_EQ(ask("SELECT a, b FROM t"), R"({"columns":["a","b"],"rows":[[1,"one"],[2.5,null],[null,"\"<\\"]],"cut":false})");
}

TEST_F(QuestionsTest, ParametersAreValuesAndRunsAreBesideEachOther) {
  EXPECT_EQ(ask("SELECT b FROM t WHERE a = ?", "[1]"), R"({"columns":["b"],"rows":[["one"]],"cut":false})");
  EXPECT_EQ(ask("SELECT ? AS x", R"(["'; DROP TABLE t"])"), R"({"columns":["x"],"rows":[["'; DROP TABLE t"]],"cut":false})");
  EXPECT_EQ(ask("SELECT count(*) AS n FROM main.t x JOIN run1.t y ON x.a = y.a"),
            R"({"columns":["n"],"rows":[[3]],"cut":false})");
  EXPECT_THAT(answer(R"({"run":2,"sql":"SELECT 1"})"), HasSubstr("no such run"));
}

TEST_F(QuestionsTest, OnlyOneStatementThatReads) {
  for (const char* sql : {"DELETE FROM t", "ATTACH 'x' AS y", "PRAGMA journal_mode = DELETE", "DETACH run1"})
    EXPECT_THAT(ask(sql), HasSubstr("not authorized")) << sql;
  EXPECT_THAT(ask("SELECT 1; SELECT 2"), HasSubstr("one statement"));
  EXPECT_THAT(ask("SELECT 1 ; "), HasSubstr("[[1]]"));
}

TEST_F(QuestionsTest, WhatIsNotInTheFormOfAQuestionIsRefused) {
  for (const char* body : {"", "[]", "{}", "{\"sql\":1,\"run\":0}", "{\"run\":-1,\"sql\":\"SELECT 1\"}",
                           "{\"run\":0,\"sql\":\"SELECT 1\","
                           "\"parameters\":7}",
                           "not json"})
    EXPECT_THAT(answer(body), HasSubstr("not in the form")) << body;
}

TEST_F(QuestionsTest, NoAnswerIsWithoutEnd) {
  bounds_.rows = 10;
  EXPECT_THAT(ask(std::string(kEndless) + "i FROM n"), HasSubstr("[10]],\"cut\":true"));
  bounds_ = {};
  bounds_.bytes = 1000;
  EXPECT_THAT(ask(std::string(kEndless) + "i FROM n"), HasSubstr("\"cut\":true"));
  bounds_ = {.time = std::chrono::milliseconds(1)};
  EXPECT_THAT(ask(std::string(kEndless) + "max(i) FROM n"), HasSubstr("longer than"));
  EXPECT_THAT(ask("SELECT length(zeroblob(100000000))"), HasSubstr("too big"));
  bounds_ = {};
  gone_ = true;
  EXPECT_THAT(ask(std::string(kEndless) + "max(i) FROM n"), HasSubstr("interrupted"));
}

}  // namespace
}  // namespace dlkprof::view::questions_test
