#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "base/file.h"
#include "database_fixture.h"
#include "same_timeline.h"

namespace dlkprof::store::read_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ReadTest : public DatabaseTest {
 protected:
  // What reading says after `sql` was run on a whole database.
  [[nodiscard]] std::string after(std::string_view sql) {
    write();
    run(sql);
    return reading();
  }
  void cut_to(std::size_t bytes) {
    write();
    std::filesystem::resize_file(path(), bytes);
  }
};

TEST_F(ReadTest, GivesBackWhatWasWritten) {
  write();
  test::expect_same(read_timeline(path()), timeline_);
}

TEST_F(ReadTest, GivesBackSamples) {
  const std::string metric = timeline_.measured.at(1).begin()->first;
  timeline_.sampled[1][metric] = {.samples = 120, .launches = 7, .mean = 41.5, .deviation = 3, .interval = 0.5};
  timeline_.sampled[0][metric] = {.samples = 1, .launches = 1, .mean = 2, .deviation = 0, .interval = std::nullopt};
  timeline_.measured[0][metric] = {2};
  timeline_.sampled_metrics = {"zz__of_the_whole_gpu.avg.pct", metric};
  timeline_.bins = {{0, 0, 1000, 1100, 10, 4.5}, {0, 1, 1000, 1100, 9, 0}};
  write();
  test::expect_same(read_timeline(path()), timeline_);
  EXPECT_THAT(after("UPDATE sampled SET mean = 'x' WHERE config = 1"), HasSubstr("mean is text"));
  EXPECT_THAT(after("UPDATE sample_bin SET metric = 99 WHERE id = 1"), HasSubstr("metric is 99"));
  EXPECT_THAT(after("UPDATE sample_bin SET end_ns = 1 WHERE id = 1"), HasSubstr("end_ns is 1"));
}

TEST_F(ReadTest, GivesBackATimelineOfNothing) {
  timeline_ = {};
  timeline_.strings = {""};
  fold_ = {};
  aggregate_ = {};
  write();
  test::expect_same(read_timeline(path()), timeline_);
}

TEST_F(ReadTest, InvalidUtf8IsReplacedWhenWritten) {
  timeline_.processes[0].record.arguments = {"\xFF!"};
  write();
  EXPECT_EQ(read_timeline(path()).processes[0].record.arguments[0], "\xEF\xBF\xBD!");
}

TEST_F(ReadTest, InvalidUtf8OfOthersIsReplaced) {
  write();
  run("UPDATE string SET value = CAST(x'ff21' AS TEXT) WHERE id = 2");
  EXPECT_EQ(read_timeline(path()).strings[2], "\xEF\xBF\xBD!");
}

TEST_F(ReadTest, NumbersBeyondSqliteAreCut) {
  timeline_.activities[0].bytes = ~std::uint64_t{0};
  write();
  EXPECT_EQ(read_timeline(path()).activities[0].bytes, std::uint64_t{0x7fffffffffffffff});
}

TEST_F(ReadTest, WhatIsNoDatabaseIsNamed) {
  EXPECT_THAT(reading(), AllOf(HasSubstr("run_dldb.sqlite"), HasSubstr("No such file"), HasSubstr("Check the path")));
  EXPECT_FALSE(is_database(path()));
  std::ofstream(path()) << "SQLite format 4, or what";
  EXPECT_THAT(reading(), AllOf(HasSubstr("not an SQLite database"), HasSubstr("Give a capture")));
  EXPECT_FALSE(is_database(path()));
  std::ofstream(path(), std::ios::trunc);
  EXPECT_THAT(reading(), HasSubstr("not an SQLite database"));
  EXPECT_THAT(message_of([this] { (void)read_timeline(in(".")); }), HasSubstr("not a regular file"));
  ASSERT_EQ(mkfifo(in("pipe").c_str(), 0600), 0);
  EXPECT_THAT(message_of([this] { (void)read_timeline(in("pipe")); }), HasSubstr("not a regular file"));
  EXPECT_FALSE(is_database(in("pipe")));
}

TEST_F(ReadTest, IsDatabaseKnowsOnesByTheirBeginning) {
  write();
  EXPECT_TRUE(is_database(path()));
}

TEST_F(ReadTest, NamesThatSqliteGivesMeaningsToAreFiles) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(in("."));
  write("file:x?mode=memory");
  write(":memory:");
  EXPECT_TRUE(is_database(in("file:x?mode=memory")));
  EXPECT_EQ(read_timeline(":memory:").strings, timeline_.strings);
  std::filesystem::current_path(before);
}

TEST_F(ReadTest, DatabasesOfOthersAreRefused) {
  EXPECT_THAT(after("PRAGMA application_id=252006674"), AllOf(HasSubstr("another program"), HasSubstr("0xf055112")));
}

TEST_F(ReadTest, OtherVersionsAreRefusedNamingBoth) {
  EXPECT_THAT(after("PRAGMA user_version=11"),
              AllOf(HasSubstr("version 11"), HasSubstr("reads version 10"), HasSubstr("as new as")));
  EXPECT_THAT(after("PRAGMA user_version=0"), AllOf(HasSubstr("version 0"), HasSubstr("from the captures")));
}

TEST_F(ReadTest, TablesThatAreNotAsWrittenAreRefused) {
  EXPECT_THAT(after("DROP TABLE fact"), HasSubstr("table fact is missing"));
  EXPECT_THAT(after("ALTER TABLE activity ADD COLUMN x"), HasSubstr("table activity is not as written"));
  write();
  run("DROP TABLE string");
  run("CREATE VIEW string(id, value) AS WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x+1 FROM c) SELECT x, '' FROM c");
  EXPECT_THAT(reading(), HasSubstr("table string is missing"));
}

TEST_F(ReadTest, WhatOthersAddIsIgnored) {
  write();
  run("CREATE TABLE mine (x)");
  run("CREATE INDEX activity_by_kernel ON activity(kernel)");
  test::expect_same(read_timeline(path()), timeline_);
}

TEST_F(ReadTest, FilesCutAnywhereAreRefused) {
  write();
  const auto size = std::filesystem::file_size(path());
  for (const std::size_t bytes :
       {std::size_t{16}, std::size_t{50}, std::size_t{100}, std::size_t{1000}, size / 4, size / 2, size - 4096}) {
    cut_to(bytes);
    EXPECT_NE(reading(), "no error") << bytes;
  }
}

TEST_F(ReadTest, FilesWithGarbageNeverCrash) {
  write();
  const std::string whole = read_file(path());
  std::size_t refused = 0;
  for (std::size_t at = 20; at < whole.size(); at += 509) {
    std::string text = whole;
    for (std::size_t i = at; i < std::min(at + 7, text.size()); ++i) text[i] = static_cast<char>(text[i] ^ (0x5B + i));
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << text;
    refused += reading() == "no error" ? 0 : 1;  // either what is whole or an Error
  }
  EXPECT_GT(refused, 0U);
}

struct Hostile {
  const char* sql;
  const char* words;
};

class HostileRows : public ReadTest, public testing::WithParamInterface<Hostile> {};

TEST_P(HostileRows, AreRefusedNamingThem) {
  EXPECT_THAT(after(GetParam().sql), AllOf(HasSubstr(GetParam().words), HasSubstr("make it again from the captures")));
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileRows,
    testing::Values(
        Hostile{"UPDATE range SET parent = 4 WHERE id = 3", "row 3 of table range: parent is 4, not a whole number from 0 to 2"},
        Hostile{"UPDATE range SET parent = id WHERE id = 1", "parent is 1"},
        Hostile{"UPDATE range SET parent = 0 WHERE id = 0", "row 0 of table range: parent is 0, not possible"},
        Hostile{"UPDATE range SET thread = 2 WHERE id = 0", "thread is 2, not a whole number from 0 to 1"},
        Hostile{"UPDATE range SET message = -1 WHERE id = 0", "message is -1"},
        Hostile{"UPDATE range SET domain = 4294967296", "domain is 4294967296"},
        Hostile{"UPDATE range SET kind = 3 WHERE id = 2", "row 2 of table range: kind is 3"},
        Hostile{"UPDATE range SET closed = 2", "closed is 2"},
        Hostile{"UPDATE range SET sequence = -1 WHERE id = 0", "sequence is -1"},
        Hostile{"UPDATE pc_function SET kernel = 3 WHERE id = 0", "kernel is 3"},
        Hostile{"UPDATE pc_function SET code = 1 WHERE id = 0", "code is 1"},
        Hostile{"UPDATE pc_code SET zstd_elf = 'x'", "zstd_elf is text, not a blob"},
        Hostile{"UPDATE pc_code SET elf_bytes = -1", "elf_bytes is -1"},
        Hostile{"UPDATE pc_instruction SET function = 3 WHERE id = 1", "row 1 of table pc_instruction: function is 3"},
        Hostile{"UPDATE pc_instruction SET file = 2 WHERE id = 0", "file is 2"},
        Hostile{"UPDATE pc_instruction SET line = -1 WHERE id = 0", "line is -1"},
        Hostile{"UPDATE pc_stall SET instruction = 6 WHERE instruction = 4", "instruction is 6"},
        Hostile{"UPDATE pc_stall SET reason = 4 WHERE reason = 3", "reason is 4"},
        Hostile{"UPDATE pc_stall SET samples = 4611686018427387905", "more samples than there can be"},
        Hostile{"UPDATE pc_total SET process = 2", "process is 2"},
        Hostile{"UPDATE sass_metric SET id = 9 WHERE id = 4", "id is 9, not 4"},
        Hostile{"UPDATE sass_count SET instruction = 6 WHERE instruction = 5", "instruction is 6"},
        Hostile{"UPDATE sass_count SET config = 2 WHERE instruction = 5", "config is 2"},
        Hostile{"UPDATE sass_count SET metric = 5 WHERE instruction = 5 AND metric = 2", "metric is 5"},
        Hostile{"UPDATE sass_count SET value = 4611686018427387905", "a larger count than there can be"},
        Hostile{"UPDATE sass_count SET value = -1", "value is -1"},
        Hostile{"UPDATE pc_total SET longest_period_log2 = 64", "a period that there cannot be"},
        Hostile{"UPDATE range SET op_id = 4294967295 WHERE id = 0", "op_id is 4294967295"},
        Hostile{"UPDATE range SET start_ns = 'soon' WHERE id = 1", "start_ns is text"},
        Hostile{"UPDATE range SET start_ns = 1.5 WHERE id = 1", "start_ns is a real number"},
        Hostile{"UPDATE range SET end_ns = 1099 WHERE id = 1", "end_ns is 1099, not a whole number from 1100"},
        Hostile{"UPDATE range SET start_ns = 9 WHERE id = 3", "start_ns is 9, not a whole number from 3000"},
        Hostile{"UPDATE range SET end_ns = 9223372036854775807 WHERE id = 1", "end_ns is 9223372036854775807"},
        Hostile{"UPDATE range SET id = 9 WHERE id = 4", "id is 9, not 4"},
        Hostile{"DELETE FROM range WHERE id = 0", "id is 1, not 0"},
        Hostile{"UPDATE range SET id = 4611686018427387904 WHERE id = 4", "id is 4611686018427387904, not 4"},
        Hostile{"UPDATE range SET thread = 1 WHERE id = 1", "row 1 of table range: it does not lie inside its parent"},
        Hostile{"UPDATE range SET end_ns = 2001 WHERE id = 1", "row 1 of table range: it does not lie inside its parent"},
        Hostile{"UPDATE call SET thread = 1 WHERE id = 1", "row 1 of table call: it was not made inside its range"},
        Hostile{"UPDATE call SET start_ns = 1099 WHERE id = 1", "row 1 of table call: it was not made inside its range"},
        Hostile{"UPDATE call SET start_ns = 1501, end_ns = 1600 WHERE id = 1", "row 1 of table call: it was not made inside"},
        Hostile{"UPDATE call SET range = 5 WHERE id = 1", "range is 5"},
        Hostile{"UPDATE call SET name = x'00' WHERE id = 1", "name is a blob"},
        Hostile{"UPDATE call SET start_ns = 100 WHERE id = 3", "row 3 of table call: start_ns is 100"},
        Hostile{"UPDATE kernel SET kind = 3 WHERE id = 0", "table kernel: kind is 3"},
        Hostile{"UPDATE kernel SET name = x'41' WHERE id = 0", "name is a blob, not text"},
        Hostile{"UPDATE config SET process = 2 WHERE id = 0", "table config: process is 2"},
        Hostile{"UPDATE config SET grid_x = -1 WHERE id = 0", "grid_x is -1"},
        Hostile{"UPDATE function SET process = 2 WHERE number = 3", "table function: process is 2"},
        Hostile{"UPDATE function SET registers_per_thread = 4294967296", "registers_per_thread is 4294967296"},
        Hostile{"UPDATE activity SET kernel = 3 WHERE id = 1", "table activity: kernel is 3"},
        Hostile{"UPDATE activity SET config = 2 WHERE id = 1", "config is 2"},
        Hostile{"UPDATE activity SET call = 4 WHERE id = 1", "call is 4"},
        Hostile{"UPDATE activity SET device = 1 WHERE id = 1", "device is 1"},
        Hostile{"UPDATE activity SET start_ns = NULL WHERE id = 1", "ended but did not start"},
        Hostile{"UPDATE activity SET end_ns = NULL WHERE id = 1", "end_ns is NULL"},
        Hostile{"UPDATE activity SET start_ns = 1399, end_ns = 1500 WHERE id = 3", "row 3 of table activity: start_ns is 1399"},
        Hostile{"UPDATE activity SET bytes = -5 WHERE id = 0", "bytes is -5"},
        Hostile{"UPDATE thread SET process = 'x' WHERE id = 0", "process is text"},
        Hostile{"UPDATE string SET value = 'x' WHERE id = 0", "the first one is not empty"},
        Hostile{"UPDATE string SET value = zeroblob(100) WHERE id = 3", "value is a blob"},
        Hostile{"DELETE FROM string", "table string: it is missing"}, Hostile{"DELETE FROM device", "device is 0, not possible"},
        Hostile{"UPDATE argument SET position = 9 WHERE position = 3", "position is 9, not 3"},
        Hostile{"UPDATE argument SET process = 2 WHERE process = 1", "process is 2"},
        Hostile{"UPDATE notice SET severity = 3 WHERE id = 0", "severity is 3"},
        Hostile{"UPDATE measured SET config = 2 WHERE config = 1", "config is 2"},
        Hostile{"UPDATE measured SET metric = 5 WHERE config = 1", "metric is 5"},
        Hostile{"DELETE FROM measured WHERE position = 0", "position is 1, not 0"},
        Hostile{"UPDATE measured SET value = 'high' WHERE config = 1", "value is text"},
        Hostile{"UPDATE metric_set SET process = 2 WHERE id = 1", "table metric_set: process is 2"},
        Hostile{"UPDATE measured_launch SET metric_set = 2", "table measured_launch: metric_set is 2"},
        Hostile{"UPDATE measured_launch SET replay_mode = 3", "replay_mode is 3"},
        Hostile{"UPDATE measured_launch SET cache_control = -1", "cache_control is -1"},
        Hostile{"DELETE FROM measured_launch WHERE position = 0", "table measured_launch: position is 1, not 0"},
        Hostile{"UPDATE launch_count SET process = 2", "table launch_count: process is 2"},
        Hostile{"UPDATE launch_count SET config = 2", "table launch_count: config is 2"},
        Hostile{"UPDATE launch_count SET kernel = 9", "table launch_count: kernel is 9"},
        Hostile{"UPDATE launch_count SET measured = -1", "measured is -1"},
        Hostile{"UPDATE launch_count SET skip_reason = 8", "skip_reason is 8"},
        Hostile{"UPDATE config SET kernel = 3 WHERE id = 0", "table config: kernel is 3"},
        Hostile{"UPDATE about SET first_ns = last_ns + 1", "table about: last_ns is 4000"},
        Hostile{"DELETE FROM about", "table about: it is missing"}));

TEST_F(ReadTest, TimesOfEventsBoundTheTimeline) {
  write();
  run("UPDATE about SET first_ns = 1000, last_ns = 1001");
  const model::Timeline timeline = read_timeline(path());
  EXPECT_EQ(timeline.first_ns, 500);
  EXPECT_EQ(timeline.last_ns, 4000);
}

TEST_F(ReadTest, TextThatTheFileCannotHoldIsRefused) {
  timeline_.strings[3] = std::string(100'000, 'x');
  write();
  // The long text's row, in the page that lists it, is made to say that it is longer than the file.
  std::string bytes = read_file(path());
  const std::size_t page = bytes.find(std::string(1000, 'x'));
  ASSERT_NE(page, std::string::npos);
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  test::expect_same(read_timeline(path()), timeline_);
  // 100000 as a varint of a payload's header: 2 * n + 13 of text.
  const std::string length("\x8C\x9A\x4D", 3);
  const std::size_t at = bytes.find(length);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 3, "\xFF\xFF\x7F");
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  EXPECT_NE(reading(), "no error");
}

TEST_F(ReadTest, ReadsFromAFolderThatCannotBeWrittenTo) {
  write();
  std::filesystem::permissions(in("."), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  test::expect_same(read_timeline(path()), timeline_);
  std::filesystem::permissions(in("."), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace dlkprof::store::read_test
