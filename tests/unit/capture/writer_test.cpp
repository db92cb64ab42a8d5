#include "capture/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/error.h"
#include "capture/reader.h"
#include "sample_records.h"
#include "support/temporary_directory.h"

namespace dlkprof::capture::writer_test {
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

class WriterTest : public testing::Test {
 protected:
  [[nodiscard]] const fs::path& directory() const { return directory_.path(); }
  [[nodiscard]] static std::string with_pid(const std::string& end) { return "base_" + std::to_string(getpid()) + end; }

 private:
  dlkprof::test::TemporaryDirectory directory_;
};

TEST_F(WriterTest, WhatIsWrittenIsRead) {
  const auto records = sample_records();
  Writer writer = Writer::create(directory(), "base");
  EXPECT_EQ(writer.path(), directory() / "base.dlkcap");
  Reader reader = Reader::open(writer.path());
  for (const Record& record : records) {
    writer.append(record);
    const auto read = reader.next();
    ASSERT_TRUE(read) << "not there at once";
    EXPECT_EQ(encode_record(*read), encode_record(record));
  }
  EXPECT_FALSE(reader.next());
}

TEST_F(WriterTest, FilesArePrivate) {
  const mode_t old = umask(0);
  const Writer writer = Writer::create(directory(), "base");
  umask(old);
  struct stat status {};
  ASSERT_EQ(stat(writer.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(WriterTest, TakenNamesAreLeftAlone) {
  const Writer first = Writer::create(directory(), "base");
  const Writer second = Writer::create(directory(), "base");
  const Writer third = Writer::create(directory(), "base");
  const Writer fourth = Writer::create(directory(), "base");
  EXPECT_EQ(second.path(), directory() / with_pid(".dlkcap"));
  EXPECT_EQ(third.path(), directory() / with_pid("_2.dlkcap"));
  EXPECT_EQ(fourth.path(), directory() / with_pid("_3.dlkcap"));
}

TEST_F(WriterTest, NeverWritesThroughALink) {
  fs::create_symlink(directory() / "target", directory() / "base.dlkcap");
  const Writer writer = Writer::create(directory(), "base");
  EXPECT_EQ(writer.path(), directory() / with_pid(".dlkcap"));
  EXPECT_FALSE(fs::exists(directory() / "target"));
}

TEST_F(WriterTest, AFolderThatIsNotThereFailsWithARemedy) {
  const std::string message = message_of([&] { (void)Writer::create(directory() / "none", "base"); });
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
  EXPECT_THAT(message, HasSubstr("Check the path"));
}

TEST_F(WriterTest, WritersThatStartTogetherGetFilesOfTheirOwn) {
  constexpr int kWriters = 8;
  std::vector<fs::path> paths(kWriters);
  std::vector<std::thread> threads;
  threads.reserve(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i] {
      Writer writer = Writer::create(directory(), "base");
      writer.append(EndRecord{i, 0});
      paths[i] = writer.path();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<fs::path>(paths.begin(), paths.end()).size(), kWriters);
  for (int i = 0; i < kWriters; ++i) {
    Reader reader = Reader::open(paths[i]);
    EXPECT_EQ(read_all(reader), encode_all({EndRecord{i, 0}}));
  }
}

TEST_F(WriterTest, ThreadsAppendWholeRecords) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kRecords = 500;
  Writer writer = Writer::create(directory(), "base");
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kRecords; ++i)
        writer.append(LaunchRecord{.index = t * kRecords + i, .values = std::vector<double>(i % 50)});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> indices;
  Reader reader = Reader::open(writer.path());
  while (const auto record = reader.next()) indices.insert(std::get<LaunchRecord>(*record).index);
  EXPECT_EQ(indices.size(), kThreads * kRecords);
  EXPECT_EQ(reader.state().damaged, 0U);
  EXPECT_FALSE(reader.state().cut);
}

TEST_F(WriterTest, SurvivesAbruptDeath) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Writer writer = Writer::create(directory(), "base");
    writer.append(EndRecord{1, 2});
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  Reader reader = Reader::open(directory() / "base.dlkcap");
  EXPECT_EQ(read_all(reader), encode_all({EndRecord{1, 2}}));
}

// Runs `body` in a child process, for what changes a process for good. Gives its exit code, or 128 + signal.
int in_child(const auto& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Appends until it fails; 0 where it failed as it should and what came before can be read.
int fill_up(const fs::path& directory) {
  Writer writer = Writer::create(directory, "base");
  const NoticeRecord record{Severity::info, std::string(3000, 'x'), "", ""};
  std::uint64_t appended = 0;
  std::string message;
  while (message.empty() && appended < 1000) {
    try {
      writer.append(record);
      ++appended;
    } catch (const Error& error) {
      message = error.message();
    }
  }
  if (message.find("Free space there, or choose another place with --output_path.") == std::string::npos) return 1;
  if (message_of([&] { writer.append(EndRecord{}); }) != message) return 2;
  Reader reader = Reader::open(writer.path());
  if (read_all(reader).size() != appended || appended == 0) return 3;
  return reader.state().cut || reader.state().bytes != fs::file_size(writer.path()) ? 4 : 0;
}

TEST_F(WriterTest, AFileSizeLimitEndsTheCaptureAndNotTheProgram) {
  const int result = in_child([&] {
    const rlimit limit{20000, 20000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    return fill_up(directory());  // SIGXFSZ keeps its default action, which ends the process
  });
  EXPECT_EQ(result, 0);
}

// The descriptor of a writer is the only one of this process that names its file.
int descriptor_of(const fs::path& path) {
  struct stat wanted {};
  if (stat(path.c_str(), &wanted) != 0) return -1;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    struct stat status {};
    const int number = std::stoi(entry.path().filename());
    if (fstat(number, &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino) return number;
  }
  return -1;
}

TEST_F(WriterTest, TheDescriptorIsOutOfTheProgramsWay) {
  const Writer writer = Writer::create(directory(), "base");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_GE(static_cast<rlim_t>(descriptor_of(writer.path())), std::min<rlim_t>(4096, limit.rlim_cur / 2));
}

// What a program does that closes a descriptor twice, or all of them, and then opens files of its own.
TEST_F(WriterTest, AFileThatTookOverTheNumberStaysAsItIs) {
  const fs::path other = directory() / "of the program";
  int number = -1;
  {
    Writer writer = Writer::create(directory(), "base");
    writer.append(EndRecord{1, 2});
    number = descriptor_of(writer.path());
    const UniqueFd opened = create_private(other);
    write_all(opened.get(), std::vector<std::uint8_t>(100000, 'x'), other);
    ASSERT_EQ(dup2(opened.get(), number), number);
    for (int i = 0; i < 2; ++i) EXPECT_THROW(writer.append(EndRecord{3, 4}), Error);
  }
  EXPECT_EQ(fs::file_size(other), 100000U) << "neither written to nor cut";
  EXPECT_EQ(write(number, "y", 1), 1) << "nor was it closed";
  close(number);
  Reader reader = Reader::open(directory() / "base.dlkcap");
  EXPECT_EQ(read_all(reader), encode_all({EndRecord{1, 2}}));
}

TEST_F(WriterTest, AClosedDescriptorEndsTheCaptureWithAReason) {
  Writer writer = Writer::create(directory(), "base");
  close(descriptor_of(writer.path()));
  EXPECT_THAT(message_of([&] { writer.append(EndRecord{1, 2}); }), HasSubstr("closed the descriptor"));
}

TEST_F(WriterTest, AFullDiskLeavesOnlyWholeRecords) {
  constexpr int kNotAllowed = 77;
  const int result = in_child([&] {
    if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNotAllowed;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kNotAllowed;
    if (mount("none", directory().c_str(), "tmpfs", 0, "size=64k") != 0) return kNotAllowed;
    return fill_up(directory());
  });
  if (result == kNotAllowed) GTEST_SKIP() << "no small file system may be mounted here";
  EXPECT_EQ(result, 0);
}

TEST_F(WriterTest, EndsInGoodOrderAtItsLimit) {
  constexpr std::uint64_t kLimit = 100'000;
  Writer writer = Writer::create(directory(), "base");
  writer.set_limit(kLimit);
  const NoticeRecord some{Severity::info, std::string(5000, 'x'), "", ""};
  const std::string message = message_of([&] {
    for (int i = 0; i < 100; ++i) writer.append(some);
  });
  EXPECT_THAT(message, HasSubstr("--max-capture"));
  EXPECT_EQ(message_of([&] { writer.append(some); }), message) << "once and for all";
  EXPECT_LE(fs::file_size(writer.path()), kLimit);
  EXPECT_GT(fs::file_size(writer.path()), kLimit - 10'000);
  Reader reader = Reader::open(writer.path());
  std::vector<Record> records;
  while (auto record = reader.next()) records.push_back(std::move(*record));
  EXPECT_FALSE(reader.state().cut);
  ASSERT_GT(records.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<EndRecord>(records.back()));
  const auto* notice = std::get_if<NoticeRecord>(&records.at(records.size() - 2));
  ASSERT_NE(notice, nullptr);
  EXPECT_THAT(notice->detail, HasSubstr("--max-capture"));
}

TEST_F(WriterTest, AnEmptyCaptureIsNotLeftBehind) {
  const int result = in_child([&] {
    const rlimit limit{8, 8};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    return message_of([&] { (void)Writer::create(directory(), "base"); }).find("RLIMIT_FSIZE") == std::string::npos ? 1 : 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(fs::is_empty(directory()));
}

TEST_F(WriterTest, AMovedWriterGoesOn) {
  Writer first = Writer::create(directory(), "base");
  first.append(EndRecord{1, 1});
  Writer second(std::move(first));
  second.append(EndRecord{2, 2});
  EXPECT_THROW(first.append(EndRecord{}), Error);  // NOLINT(bugprone-use-after-move): that is what is tested
  Reader reader = Reader::open(second.path());
  EXPECT_EQ(read_all(reader), encode_all({EndRecord{1, 1}, EndRecord{2, 2}}));
}

}  // namespace
}  // namespace dlkprof::capture::writer_test
