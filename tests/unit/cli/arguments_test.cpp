#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "support/run_verb.h"

namespace dlkprof::cli::arguments_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Arguments : public testing::Test {
 protected:
  Arguments() {
    app_.add_option("--base_name", base_name_);
    app_.add_option("-k,--kernel-name", kernel_name_);
    app_.add_option("--count", count_);
    app_.add_option("--devices", devices_)->delimiter(',')->allow_extra_args(false);
    app_.add_option("-L,--list", lists_)->type_size(2)->allow_extra_args(false);
    app_.add_option("--reports", reports_)
        ->check(suggested({"detail", "kernel", "summary"}))
        ->delimiter(',')
        ->allow_extra_args(false);
    app_.add_option("--mode", mode_)->check(one_of({"simple", "pytorch"}));
    app_.add_option("--size", size_)->check(whole_number(2, 9));
    app_.add_flag("--sampling{auto}", sampling_)->type_name("[=<n>]");
    app_.add_flag("-f,--force", force_);
    app_.set_version_flag("-V,--version", "dlkprof 1.2.3");
  }

  Parsed read(std::vector<std::string> words, OptionsEnd end = OptionsEnd::at_positional) {
    words.insert(words.begin(), "dlkprof");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return parse(app_, static_cast<int>(argv.size()), argv.data(), end);
  }
  std::string complaint(const std::vector<std::string>& words) {
    return test::message_of<UsageError>([&] { (void)read(words); });
  }

  CLI::App app_{"A test.", "dlkprof test"};
  std::string base_name_, kernel_name_, mode_, sampling_;
  std::vector<std::string> reports_;
  int count_ = 0, size_ = 0;
  std::vector<int> devices_;
  std::vector<std::string> lists_;
  bool force_ = false;
};

TEST_F(Arguments, AnEmptyValueDoesNotTakeTheNextWord) {
  for (const char* word : {"--base_name=", "--reports=", "--sampling=", "--force="}) {
    EXPECT_THAT(complaint({word, "kernel"}), HasSubstr("gives no value")) << word;
  }
}

TEST_F(Arguments, UnderscoreAndDashAreTheSameInNames) {
  (void)read({"--base-name=a_b-c", "--kernel_name", "x_y"});
  EXPECT_EQ(base_name_, "a_b-c");
  EXPECT_EQ(kernel_name_, "x_y");
}

TEST_F(Arguments, AnOptionMayTakeTwoWords) {
  const Parsed parsed = read({"-L", "n", "1,2", "--list", "m", "-f", "--list=o", "--", "-fLp", "3", "prog", "-L"});
  EXPECT_THAT(lists_, ElementsAre("n", "1,2", "m", "-f", "o", "--", "p", "3"));
  EXPECT_THAT(parsed.program, ElementsAre("prog", "-L"));
  EXPECT_TRUE(force_);
  EXPECT_THAT(complaint({"-L", "n"}), HasSubstr("--list needs 2 values"));
}

TEST_F(Arguments, TheProgramBeginsAtTheFirstWordThatIsNoOption) {
  const Parsed parsed = read({"-f", "--count", "3", "-k", "gemm", "python", "--base_name=theirs", "-f", "--no_such"});
  EXPECT_THAT(parsed.program, ElementsAre("python", "--base_name=theirs", "-f", "--no_such"));
  EXPECT_EQ(count_, 3);
  EXPECT_EQ(kernel_name_, "gemm");
  EXPECT_TRUE(force_);
  EXPECT_EQ(base_name_, "");
}

TEST_F(Arguments, TwoDashesEndTheOptions) {
  EXPECT_THAT(read({"-f", "--", "report", "--count", "9"}).program, ElementsAre("report", "--count", "9"));
  EXPECT_EQ(count_, 0);
}

TEST_F(Arguments, ValuesMayLookLikeAnything) {
  const Parsed parsed = read({"--base_name", "--", "-k", "-f", "--count=-5", "run"});
  EXPECT_THAT(parsed.program, ElementsAre("run"));
  EXPECT_EQ(count_, -5);
}

TEST_F(Arguments, FlagsMayBeBundled) {
  EXPECT_THAT(read({"-fk", "gemm", "run"}).program, ElementsAre("run"));
  EXPECT_EQ(kernel_name_, "gemm");
  EXPECT_TRUE(force_);
}

TEST_F(Arguments, ListsTakeOneWord) {
  EXPECT_THAT(read({"--devices", "0,2", "run", "5"}).program, ElementsAre("run", "5"));
  EXPECT_THAT(devices_, ElementsAre(0, 2));
}

TEST_F(Arguments, UnknownOptionsGetAHint) {
  EXPECT_THAT(complaint({"--kernal-name=x", "run"}), HasSubstr("Did you mean --kernel-name?"));
  EXPECT_THAT(complaint({"--zzzzzzzzzzzz", "run"}), HasSubstr("See dlkprof test --help."));
  EXPECT_THAT(complaint({"-z", "run"}), HasSubstr("-z"));
}

TEST_F(Arguments, BadValuesAreUsageErrors) {
  EXPECT_THAT(complaint({"--count", "many"}), HasSubstr("--count"));
  EXPECT_THAT(complaint({"--count"}), HasSubstr("--count needs a value"));
  EXPECT_THAT(complaint({"--count=1", "--count=2"}), HasSubstr("--count is given more than once"));
  EXPECT_THAT(complaint({"--mode=pytorhc"}), HasSubstr("--mode: pytorhc is none of simple, pytorch; did you mean pytorch?"));
  EXPECT_THAT(complaint({"--size=10"}), HasSubstr("--size: 10 is not a whole number from 2 to 9"));
  EXPECT_THAT(complaint({"--size=x"}), HasSubstr("from 2 to 9"));
}

TEST_F(Arguments, AFlagTakesTrueAndFalse) {
  EXPECT_THAT(read({"-f", "true", "python", "true"}).program, ElementsAre("python", "true"));
  EXPECT_TRUE(force_);
  EXPECT_THAT(read({"--force", "False", "python"}).program, ElementsAre("python"));
  EXPECT_FALSE(force_);
  EXPECT_THAT(read({"--force=true", "true"}).program, ElementsAre("true")) << "the flag has its value already";
  EXPECT_TRUE(force_);
  EXPECT_THAT(read({"--force=false", "true"}).program, ElementsAre("true"));
  EXPECT_FALSE(force_);
  EXPECT_THAT(read({"-f", "--", "true"}).program, ElementsAre("true"));
  EXPECT_TRUE(force_);
  EXPECT_THAT(read({"true", "-f"}).program, ElementsAre("true", "-f"));
  EXPECT_THAT(read({"-f", "true"}).program, IsEmpty());
  EXPECT_THAT(read({"-f", "python", "true"}).program, ElementsAre("python", "true"));
}

TEST_F(Arguments, WhatMayBeMeantForAFlagsValueIsNotRun) {
  for (const char* word : {"yes", "no", "on", "OFF", "1", "0"}) {
    EXPECT_THAT(complaint({"--force", word, "python"}), testing::AllOf(HasSubstr("true or false"), HasSubstr("--force=true")))
        << word;
  }
  EXPECT_THAT(complaint({"--force=perhaps", "python"}), HasSubstr("--force=perhaps: a flag is true or false"));
  EXPECT_THAT(complaint({"--sampling", "17", "python"}), HasSubstr("Write --sampling=17"));
}

TEST_F(Arguments, AFlagWithValuesOfItsOwnTakesThemAfterTheEqualsSign) {
  EXPECT_THAT(read({"--sampling", "python"}).program, ElementsAre("python"));
  EXPECT_EQ(sampling_, "auto");
  (void)read({"--sampling=17"});
  EXPECT_EQ(sampling_, "17");
  EXPECT_THAT(read({"--sampling", "true", "python"}).program, ElementsAre("python"));
  EXPECT_EQ(sampling_, "auto");
  EXPECT_THAT(read({"--sampling", "false", "python"}).program, ElementsAre("python"));
}

TEST_F(Arguments, AListOfKnownWordsGoesOnAfterASpace) {
  EXPECT_THAT(read({"--reports", "detail", "kernel", "--", "python"}).program, ElementsAre("python"));
  EXPECT_THAT(reports_, ElementsAre("detail", "kernel"));
  EXPECT_THAT(read({"--reports=detail", "kernel", "summary", "--force", "sh"}).program, ElementsAre("sh"));
  EXPECT_THAT(reports_, ElementsAre("detail", "kernel", "summary"));
  EXPECT_THAT(read({"--reports", "detail", "sh", "kernel"}).program, ElementsAre("sh", "kernel"));
  EXPECT_THAT(reports_, ElementsAre("detail"));
  EXPECT_THAT(read({"--reports", "detail", "kernal", "--", "sh"}).program, ElementsAre("sh")) << "mistyped, and no program";
  EXPECT_THAT(reports_, ElementsAre("detail", "kernal"));
  EXPECT_THAT(read({"--reports", "detail", "--", "kernel"}).program, ElementsAre("kernel"));
}

TEST_F(Arguments, OptionsOfOtherToolsAreAnsweredWithOurs) {
  EXPECT_THAT(complaint({"--file_formats=csv", "run"}), testing::AllOf(HasSubstr("DLProf's"), HasSubstr("--formats")));
  EXPECT_THAT(complaint({"--print-summary", "per-nvtx", "run"}), HasSubstr("Nsight Compute's"));
  EXPECT_THAT(complaint({"-o", "run"}), HasSubstr("--base_name"));
  EXPECT_THAT(complaint({"--mode=trtexec"}), HasSubstr("--mode tensorrt"));
  EXPECT_THAT(complaint({"--mode", "trtexec"}), HasSubstr("--mode tensorrt"));
}

TEST_F(Arguments, PositionalsAreTheAppsWhereOptionsMayFollow) {
  std::string file;
  app_.add_option("file", file);
  EXPECT_THAT(read({"a.dlkcap", "--base-name", "b"}, OptionsEnd::at_double_dash).program, IsEmpty());
  EXPECT_EQ(file, "a.dlkcap");
  EXPECT_EQ(base_name_, "b");
}

TEST_F(Arguments, WhatIsMissingOrTooManyIsNamed) {
  std::string file;
  app_.add_option("file", file)->required();
  const auto complaint_of = [this](const std::vector<std::string>& words) {
    return test::message_of<UsageError>([&] { (void)read(words, OptionsEnd::at_double_dash); });
  };
  EXPECT_THAT(complaint_of({}), HasSubstr("<file> is missing"));
  EXPECT_THAT(complaint_of({"a", "b"}), HasSubstr("there is an argument too many: b"));
  int kernels = 0;
  app_.add_flag("--kernels{5}", kernels, "")->type_name("[=<n>]");
  EXPECT_THAT(complaint_of({"a", "--kernels", "2"}), HasSubstr("Did you mean --kernels=2?"));
  std::string format;
  app_.add_option("--format", format)->required();
  EXPECT_THAT(complaint_of({"a"}), HasSubstr("--format is missing"));
}

TEST_F(Arguments, HelpAndVersionGoToStdout) {
  Parsed parsed;
  const auto help = test::run_verb([&](int, char**) { return (parsed = read({"--help"})).done ? 0 : 1; }, {"x"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("--kernel-name"));
  const auto version = test::run_verb([&](int, char**) { return (parsed = read({"--version"})).done ? 0 : 1; }, {"x"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out, "dlkprof 1.2.3\n");
}

}  // namespace
}  // namespace dlkprof::cli::arguments_test
