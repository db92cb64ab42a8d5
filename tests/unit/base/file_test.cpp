#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/new_file.h"
#include "support/temporary_directory.h"

namespace dlkprof::file_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

std::size_t entries(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

class FileTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path in(const char* name) const { return directory_.path() / name; }
  [[nodiscard]] const fs::path& directory() const { return directory_.path(); }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(FileTest, CreatedFilesArePrivateAndClosedOnExec) {
  const mode_t old = umask(0);
  const UniqueFd file = create_private(in("a"));
  umask(old);
  ASSERT_TRUE(file);
  EXPECT_EQ(mode_of(in("a")), 0600U);
  EXPECT_NE(fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FileTest, CreatingReportsATakenName) {
  std::ofstream(in("a")) << "theirs";
  bool exists = false;
  EXPECT_FALSE(create_private(in("a"), &exists));
  EXPECT_TRUE(exists);
  EXPECT_THAT(message_of([&] { (void)create_private(in("a")); }), HasSubstr("File exists"));
  EXPECT_EQ(read_file(in("a")), "theirs");
  EXPECT_TRUE(create_private(in("b"), &exists));
  EXPECT_FALSE(exists);
}

TEST_F(FileTest, CreatingNeverFollowsALink) {
  fs::create_symlink(in("target"), in("link"));  // dangling: open without O_EXCL would create its target
  bool exists = false;
  EXPECT_FALSE(create_private(in("link"), &exists));
  EXPECT_TRUE(exists);
  EXPECT_FALSE(fs::exists(in("target")));
}

TEST_F(FileTest, CreatingFailsWithARemedy) {
  bool exists = true;
  const std::string message = message_of([&] { (void)create_private(in("no/such/folder"), &exists); });
  EXPECT_FALSE(exists);
  EXPECT_THAT(message, HasSubstr("no/such/folder"));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
  EXPECT_THAT(message, HasSubstr("Check the path"));
}

TEST_F(FileTest, WritesAllThroughAFullPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const std::vector<std::uint8_t> bytes(1U << 20U, 0x5a);  // more than a pipe holds
  std::size_t got = 0;
  std::thread reader([&] {
    std::array<char, 4096> chunk{};
    for (ssize_t n = 0; (n = read(reading.get(), chunk.data(), chunk.size())) > 0;) got += static_cast<std::size_t>(n);
  });
  write_all(writing.get(), bytes, "pipe");
  writing.reset();
  reader.join();
  EXPECT_EQ(got, bytes.size());
}

TEST_F(FileTest, WritingToAFullDeviceFailsWithARemedy) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full here";
  const std::vector<std::uint8_t> bytes(10);
  const std::string message = message_of([&] { write_all(full.get(), bytes, "/dev/full"); });
  EXPECT_THAT(message, HasSubstr("No space left on device"));
  EXPECT_THAT(message, HasSubstr("Free space"));
}

void write_new(const fs::path& path, std::string_view text, bool replace) {
  NewFile file(path);
  write_all(file.fd(), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, path);
  file.flush_to_target(replace);
}

TEST_F(FileTest, NewFileReplacesOnlyWhenTold) {
  write_new(in("a"), "first", false);
  EXPECT_EQ(mode_of(in("a")), 0600U);
  EXPECT_THAT(message_of([&] { write_new(in("a"), "second", false); }), HasSubstr("--force"));
  EXPECT_EQ(read_file(in("a")), "first");
  write_new(in("a"), "third", true);
  EXPECT_EQ(read_file(in("a")), "third");
  EXPECT_EQ(entries(directory()), 1U) << "a temporary file was left behind";
}

TEST_F(FileTest, NewFileReplacesALinkAndNotItsTarget) {
  std::ofstream(in("target")) << "theirs";
  fs::create_symlink(in("target"), in("link"));
  write_new(in("link"), "ours", true);
  EXPECT_EQ(read_file(in("target")), "theirs");
  EXPECT_FALSE(fs::is_symlink(in("link")));
  EXPECT_EQ(read_file(in("link")), "ours");
}

TEST_F(FileTest, NewFileTakesARelativePathAndCleansUpAfterFailure) {
  const fs::path old = fs::current_path();
  fs::current_path(directory());
  write_new("relative", "text", false);
  fs::current_path(old);
  EXPECT_EQ(read_file(in("relative")), "text");

  fs::create_directory(in("folder"));
  EXPECT_THROW(write_new(in("folder"), "text", true), Error);
  EXPECT_EQ(entries(directory()), 2U) << "a temporary file was left behind";
}

TEST_F(FileTest, ReadsWholeFiles) {
  std::string text(200000, 'x');
  text[100000] = '\0';
  std::ofstream(in("a")) << text;
  EXPECT_EQ(read_file(in("a")), text);
  std::ofstream(in("empty")) << "";
  EXPECT_EQ(read_file(in("empty")), "");
  EXPECT_FALSE(read_file("/proc/self/stat").empty()) << "its size is given as 0";
}

TEST_F(FileTest, ReadingWhatIsNoFileFailsAtOnce) {
  ASSERT_EQ(mkfifo(in("fifo").c_str(), 0600), 0);
  EXPECT_THAT(message_of([&] { (void)read_file(in("fifo")); }), HasSubstr("not a regular file"));
  EXPECT_THAT(message_of([&] { (void)read_file(directory()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(message_of([&] { (void)read_file(in("none")); }), HasSubstr("No such file"));
}

TEST_F(FileTest, FlushesWhatIsAFile) {
  std::ofstream(in("a")) << "text";
  EXPECT_FALSE(flush_file(in("a")));
  EXPECT_EQ(flush_file(in("none")), std::errc::no_such_file_or_directory);
  ASSERT_EQ(mkfifo(in("fifo").c_str(), 0600), 0);
  EXPECT_TRUE(flush_file(in("fifo"))) << "and does not wait for it";
  fs::create_symlink("a", in("link"));
  EXPECT_TRUE(flush_file(in("link"))) << "somebody else's";
}

TEST_F(FileTest, MessagesNeutraliseHostileNames) {
  EXPECT_THAT(message_of([&] { (void)read_file(in("\x1b[2J")); }), HasSubstr("\\x1b[2J"));
}

TEST(InstallRoot, IsTheParentOfBin) { EXPECT_EQ(install_root(), fs::canonical(DLKPROF_BINARY_DIR)); }

}  // namespace
}  // namespace dlkprof::file_test
