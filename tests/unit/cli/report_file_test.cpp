#include "cli/outputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <stdexcept>

#include "base/error.h"
#include "base/file.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::report_file_test {
namespace {

class ReportFile : public testing::Test {
 protected:
  void write(bool replace) {
    write_pieces(path_, replace, [](const report::Sink& sink) {
      sink("one ");
      sink("");
      sink("two");
    });
  }
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(folder_.path()), {}); }

  test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "report.csv";
};

TEST_F(ReportFile, HoldsAllPiecesAndIsPrivate) {
  write(false);
  EXPECT_EQ(read_file(path_), "one two");
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(files(), 1);
}

TEST_F(ReportFile, IsReplacedOnlyWhenAsked) {
  std::ofstream(path_) << "mine";
  EXPECT_THROW(write(false), Error);
  EXPECT_EQ(read_file(path_), "mine");
  write(true);
  EXPECT_EQ(read_file(path_), "one two");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReportFile, IsNeverHalf) {
  const auto fail = [](const report::Sink& sink) {
    sink("half");
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(write_pieces(path_, false, fail), std::runtime_error);
  EXPECT_EQ(files(), 0);
}

TEST_F(ReportFile, GoesThroughNobodysLink) {
  const auto other = folder_.path() / "other";
  std::ofstream(other) << "theirs";
  std::filesystem::create_symlink(other, path_);
  EXPECT_THROW(write(false), Error);
  write(true);
  EXPECT_EQ(read_file(other), "theirs");
  EXPECT_FALSE(std::filesystem::is_symlink(path_));
}

TEST_F(ReportFile, SaysWhereItCannotBe) {
  path_ = folder_.path() / "absent" / "report.csv";
  EXPECT_THROW(write(false), Error);
}

}  // namespace
}  // namespace dlkprof::cli::report_file_test
