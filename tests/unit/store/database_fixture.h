// The small timeline as a database in a folder of the test's own, and SQL on it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/sqlite.h"
#include "support/small_timeline.h"
#include "support/temporary_directory.h"

namespace dlkprof::store {

class DatabaseTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path in(const char* name) const { return directory_.path() / name; }
  [[nodiscard]] std::filesystem::path path() const { return in("run_dldb.sqlite"); }

  void write(const std::filesystem::path& where) const { write_database(where, profile_, diagnosis_); }
  void write() const { write(path()); }

  // As any program would, views and all.
  void run(std::string_view sql) const { Connection(path(), Access::build).run(sql); }

  // All rows, cells separated by '|', NULL empty.
  [[nodiscard]] std::vector<std::string> rows(std::string_view sql) const {
    const Connection connection(path(), Access::build);
    Statement statement = connection.prepare(sql);
    std::vector<std::string> all;
    while (statement.step()) {
      std::string row;
      for (int column = 0; column < statement.columns(); ++column)
        row += (column == 0 ? "" : "|") + std::string(statement.text(column));
      all.push_back(row);
    }
    return all;
  }

  template <typename Call>
  static std::string message_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }
  [[nodiscard]] std::string reading() const {
    return message_of([this] { (void)read_timeline(path()); });
  }

  model::Profile profile_{test::small_timeline(), test::small_fold(), test::small_aggregate(), {}, {}};
  model::Diagnosis diagnosis_;
  model::Timeline& timeline_ = profile_.timeline;
  model::Fold& fold_ = profile_.fold;
  model::Aggregate& aggregate_ = profile_.aggregate;

 private:
  test::TemporaryDirectory directory_;
};

}  // namespace dlkprof::store
