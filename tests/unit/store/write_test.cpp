#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/file.h"
#include "database_fixture.h"
#include "same_timeline.h"
#include "store/schema.h"

namespace dlkprof::store::write_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class WriteTest : public DatabaseTest {
 protected:
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(in(".")), fs::directory_iterator()));
  }
};

TEST_F(WriteTest, IsPrivateAndLeavesNothingBeside) {
  const mode_t old = umask(0);
  write();
  umask(old);
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteTest, ReplacesWhatIsThere) {
  std::ofstream(path()) << "old";
  write();
  EXPECT_TRUE(is_database(path()));
}

TEST_F(WriteTest, ReplacesALinkAndLeavesItsTarget) {
  std::ofstream(in("theirs")) << "theirs";
  fs::create_symlink(in("theirs"), path());
  write();
  EXPECT_FALSE(fs::is_symlink(path()));
  EXPECT_EQ(read_file(in("theirs")), "theirs");
  EXPECT_TRUE(is_database(path()));
}

TEST_F(WriteTest, WritesThroughAFolderThatIsALink) {
  fs::create_directory(in("real"));
  fs::create_directory_symlink(in("real"), in("linked"));
  write(in("linked") / "a.sqlite");
  EXPECT_TRUE(is_database(in("real") / "a.sqlite"));
}

TEST_F(WriteTest, LinksLaidOnTheTemporaryNameAreNotFollowed) {
  std::ofstream(in("theirs")) << "theirs";
  fs::create_symlink(in("theirs"), in(".") / (".run_dldb.sqlite." + std::to_string(getpid()) + ".0.tmp"));
  write();
  EXPECT_EQ(read_file(in("theirs")), "theirs");
  EXPECT_TRUE(is_database(path()));
}

// Files are looked at as by somebody who is not root, to whom nothing is forbidden.
class Nobody {
 public:
  Nobody() {
    if (getuid() == 0) setfsuid(65534);
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
  ~Nobody() { setfsuid(getuid()); }
};

TEST_F(WriteTest, FoldersThatCannotBeWrittenToAreNamed) {
  EXPECT_THAT(message_of([this] { write(in("none") / "a.sqlite"); }), AllOf(HasSubstr("none"), HasSubstr("No such file")));
  fs::permissions(in("."), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  std::string message;
  {
    const Nobody nobody;
    message = message_of([this] { write(); });
  }
  fs::permissions(in("."), fs::perms::owner_all);
  EXPECT_THAT(message, AllOf(HasSubstr("Permission denied"), HasSubstr("may write to")));
  EXPECT_EQ(files(), 0U);
}

TEST_F(WriteTest, ATargetThatIsAFolderIsRefused) {
  fs::create_directory(path());
  EXPECT_THAT(message_of([this] { write(); }), AllOf(HasSubstr("run_dldb.sqlite"), HasSubstr("Is a directory")));
  EXPECT_EQ(files(), 1U);
}

// Files of at most so many bytes can be written while it lives: what a full disk is like.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    (void)std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(WriteTest, AFullDiskLeavesWhatWasThere) {
  std::ofstream(path()) << "old";
  std::string message;
  {
    const FileSizeLimit limit(50'000);
    message = message_of([this] { write(); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr("cannot write the database"), HasSubstr("Free space")));
  EXPECT_EQ(read_file(path()), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteTest, AFullDiskLeavesEarlierAggregations) {
  write();
  fold_.ops[0].name = std::string(1'000'000, 'x');
  profile_.options.key_node = "x";
  std::string message;
  {
    const FileSizeLimit limit(fs::file_size(path()) + 100'000);
    message = message_of([this] { (void)add_aggregation(path(), profile_); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr("cannot write the database"), HasSubstr("Free space")));
  test::expect_same(read_timeline(path()), timeline_);
  EXPECT_THAT(rows("SELECT id FROM aggregation"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT count(*) FROM op"), ElementsAre("2"));
}

TEST_F(WriteTest, HasNothingForSqliteToComplainOf) {
  write();
  EXPECT_THAT(rows("PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(rows("PRAGMA application_id"), ElementsAre(std::to_string(kApplicationId)));
  EXPECT_THAT(rows("PRAGMA user_version"), ElementsAre("10"));
}

TEST_F(WriteTest, ConfigurationsNameTheKernelTheyLaunch) {
  write();
  EXPECT_THAT(rows("SELECT id, kernel FROM config"), ElementsAre("0|1", "1|"));
}

TEST_F(WriteTest, TextIsOnlyText) {
  timeline_.strings[1] = "'); DROP TABLE activity; --";
  fold_.ops[0].name = "x', 1); DELETE FROM op; --";
  write();
  EXPECT_EQ(read_timeline(path()).strings[1], timeline_.strings[1]);
  EXPECT_THAT(rows("SELECT name FROM op WHERE id = 0"), ElementsAre(fold_.ops[0].name));
}

}  // namespace
}  // namespace dlkprof::store::write_test
