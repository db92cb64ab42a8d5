#include "capture/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dlkprof::capture::options_test {
namespace {

using testing::HasSubstr;

ProfileOptions all_set() {
  ProfileOptions options;
  options.selection = {.kernel_id = "::regex:gemm:",
                       .kernel_name = "regex:\"\\\n\xc3\xa4",
                       .kernel_name_base = "demangled",
                       .launch_skip = ~0ULL,
                       .launch_count = 2,
                       .launch_skip_before_match = 3,
                       .filter_mode = "per-gpu",
                       .devices = {0, 7, ~0U},
                       .nvtx_include = {"a/", "b"},
                       .nvtx_exclude = {"net@c/"}};
  options.collect = Collect::none;
  options.cache_control = CacheControl::all;
  options.samples = std::nullopt;
  options.keep_counters = true;
  options.max_overhead_seconds = 2.5;
  options.max_memory_mb = 4000;
  options.max_capture_mb = 77;
  options.sampling_interval_ns = 5000;
  options.pc_sampling = 17;
  options.timeline = false;
  options.in_bursts = true;
  options.iterations = 50;
  options.fast_range_texts = true;
  options.metrics = {{{"a.sum", "b.sum"}}, {{}}, {{"c.avg"}}};
  options.first_metrics = {{{"d.sum"}}};
  options.output_directory = "/some where";
  options.base_name = "base";
  options.cupti_path = "/lib/libcupti.so";
  options.all_processes = false;
  options.ranks = "0,8-15";
  options.application_pid = 42;
  options.profile_from_start = false;
  options.delay_seconds = 0.1;
  options.duration_seconds = 1e300;
  options.quiet = true;
  options.fingerprint = "00000000075bcd15";
  return options;
}

TEST(Options, RoundTrip) {
  EXPECT_EQ(options_from_json(to_json(ProfileOptions{})), ProfileOptions{});
  EXPECT_EQ(options_from_json(to_json(all_set())), all_set());
}

// Every option stands in the text by name, so that a field forgotten in the list is noticed here.
TEST(Options, NamesAreFixed) {
  EXPECT_EQ(
      to_json(all_set()),
      R"({"all_processes":false,"application_pid":42,"base_name":"base","cache_control":"all",)"
      R"("cupti_path":"/lib/libcupti.so","delay_seconds":0.1,"devices":[0,7,4294967295],"duration_seconds":1e+300,)"
      R"("fast_range_texts":true,"filter_mode":"per-gpu",)"
      R"("fingerprint":"00000000075bcd15","first_metrics":[["d.sum"]],)"
      R"("in_bursts":true,"iterations":50,"keep_counters":true,"kernel_id":"::regex:gemm:",)"
      "\"kernel_name\":\"regex:\\\"\\\\\\n\xc3\xa4\","
      R"("kernel_name_base":"demangled","launch_count":2,"launch_skip":18446744073709551615,)"
      R"("launch_skip_before_match":3,"max_capture_mb":77,"max_memory_mb":4000,"max_overhead_seconds":2.5,"metrics":[["a.sum","b.sum"],[],["c.avg"]],"nvtx_exclude":["net@c/"],"nvtx_include":["a/","b"],"output_directory":"/some where",)"
      R"("pc_sampling":17,"profile_from_start":false,"quiet":true,"ranks":"0,8-15","replay_mode":"none","samples":null,"sampling_interval_ns":5000,)"
      R"("timeline":false})");
}

TEST(Options, UnknownNamesAreIgnoredAndMissingOnesKeepDefaults) {
  ProfileOptions expected;
  expected.base_name = "x";
  EXPECT_EQ(options_from_json(R"({"base_name":"x","from_the_future":{"a":[1]}})"), expected);
  EXPECT_EQ(options_from_json("{}"), ProfileOptions{});
}

class WrongOptions : public testing::TestWithParam<const char*> {};
TEST_P(WrongOptions, AreRefused) {
  try {
    (void)options_from_json(GetParam());
    FAIL() << "taken: " << GetParam();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("DLKPROF_OPTIONS"));
    EXPECT_FALSE(error.remedy().empty());
  }
}
INSTANTIATE_TEST_SUITE_P(Text, WrongOptions,
                         testing::Values("", "{", "[]", "null", "1", "\"a\"", "{} {}", "{\"quiet\":\"\xff\"}"));
INSTANTIATE_TEST_SUITE_P(
    Types, WrongOptions,
    testing::Values(R"({"kernel_id":1})", R"({"kernel_id":null})", R"({"launch_skip":-1})", R"({"launch_skip":1.0})",
                    R"({"launch_skip":"1"})", R"({"launch_skip":18446744073709551616})", R"({"launch_skip":null})",
                    R"({"launch_count":"x"})", R"({"samples":-1})", R"({"devices":1})", R"({"devices":[4294967296]})",
                    R"({"devices":[true]})", R"({"application_pid":4294967296})", R"({"quiet":1})", R"({"delay_seconds":"1"})",
                    R"({"duration_seconds":null})", R"({"replay_mode":"iterations"})", R"({"replay_mode":1})",
                    R"({"cache_control":"kernel"})", R"({"metrics":{}})", R"({"metrics":["a"]})", R"({"metrics":[["a",1]]})"));

TEST(Options, DeepNestingIsNoTrouble) {
  const std::string deep(1U << 20U, '[');
  EXPECT_THROW((void)options_from_json(deep), Error);
  EXPECT_EQ(options_from_json("{\"x\":" + deep + std::string(deep.size(), ']') + "}"), ProfileOptions{});
}

TEST(Options, BytesThatJsonCannotCarryAreRefused) {
  ProfileOptions options;
  options.output_directory = "/tmp/\xff";
  EXPECT_THROW((void)to_json(options), Error);
}

}  // namespace
}  // namespace dlkprof::capture::options_test
