#include "cli/profile/profile_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/run_verb.h"

namespace dlkprof::cli::profile_options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProfileCommand parse(std::vector<std::string> words) {
  static const auto kCatalogue = cupti::Catalogue::load(std::filesystem::path(DLKPROF_SOURCE_DIR) / "metrics");
  words.insert(words.begin(), "dlkprof");
  words.insert(words.end(), {"python", "train.py", "--mode=eval"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_profile(static_cast<int>(argv.size()), argv.data(), kCatalogue).value();
}

std::string complaint(const std::vector<std::string>& words) {
  return test::message_of<UsageError>([&words] { (void)parse(words); });
}

TEST(ProfileOptions, FoldByTheDefaultsUnlessTold) {
  const ProfileCommand command = parse({});
  EXPECT_EQ(command.folding.mode, Mode::automatic);
  EXPECT_THAT(command.folding.fold.key_node, IsEmpty());
  EXPECT_FALSE(command.folding.range.start.has_value());
  EXPECT_TRUE(command.outputs.database);
  EXPECT_FALSE(command.outputs.model_data);
  EXPECT_FALSE(command.reports_named);
  EXPECT_THAT(command.program, ElementsAre("python", "train.py", "--mode=eval")) << "what follows the program is its own";
}

TEST(ProfileOptions, FoldAsDlprofDoes) {
  const ProfileCommand command = parse({"-m", "pytorch", "--key_node=/net/step", "--iter_start=2", "--iter-stop", "5",
                                        "--domains=default,TSL", "--dump_model_data"});
  EXPECT_EQ(command.folding.mode, Mode::pytorch);
  EXPECT_EQ(command.folding.fold.key_node, "/net/step");
  EXPECT_EQ(command.folding.range.start, 2U);
  EXPECT_EQ(command.folding.range.stop, 5U);
  EXPECT_THAT(command.folding.fold.domains, ElementsAre("default", "TSL"));
  EXPECT_TRUE(command.outputs.model_data);
  EXPECT_EQ(parse({"--key_op=aten::mm_fprop_1"}).folding.fold.key_node, "aten::mm_fprop_1");
}

TEST(ProfileOptions, FiltersByRangesNeedTheTimelineAndNoSampling) {
  const ProfileCommand command = parse({"-k", "regex:gemm", "--nvtx-include", "a/", "--nvtx-include=b", "--nvtx-exclude=net@c/"});
  EXPECT_THAT(command.options.selection.nvtx_include, ElementsAre("a/", "b"));
  EXPECT_THAT(command.options.selection.nvtx_exclude, ElementsAre("net@c/"));
  EXPECT_TRUE(command.options.timeline) << "though only kernels are asked for";
  EXPECT_THAT(complaint({"--nvtx-include=a/", "--timeline=off"}), HasSubstr("need the timeline"));
  EXPECT_THAT(complaint({"--nvtx-exclude=a/", "--replay-mode=sample"}), HasSubstr("samples whatever runs"));
}

TEST(ProfileOptions, WithoutATimelineThereAreNoOps) {
  EXPECT_TRUE(parse({}).options.timeline);
  EXPECT_FALSE(parse({"-k", "regex:gemm"}).options.timeline) << "only kernels are asked for";
  EXPECT_FALSE(parse({"--kernel-id=::regex:gemm:", "--reports=metrics"}).outputs.database);
  for (const char* word : {"--mode=pytorch", "--reports=detail", "--key_op=x", "--domains=TSL", "--iter_stop=3", "--timeline=on",
                           "--dump_model_data", "--replay-mode=none"}) {
    EXPECT_TRUE(parse({"-k", "regex:gemm", word}).options.timeline) << word;
  }
  const ProfileCommand command = parse({"--timeline=off", "--reports=metrics,kernels"});
  EXPECT_FALSE(command.options.timeline);
  EXPECT_FALSE(command.outputs.database);
  for (const char* word : {"--reports=detail", "--reports=metrics,all", "--mode=pytorch", "--key_node=x", "--dump_model_data"}) {
    EXPECT_THAT(complaint({"--timeline=off", word}), HasSubstr("--timeline off")) << word;
  }
}

TEST(ProfileOptions, KnowEveryMode) {
  for (const auto& [name, mode] :
       {std::pair{"auto", Mode::automatic}, std::pair{"simple", Mode::simple}, std::pair{"tensorflow1", Mode::tensorflow1},
        std::pair{"tensorflow2", Mode::tensorflow2}, std::pair{"tensorrt", Mode::tensorrt}, std::pair{"jax", Mode::jax}}) {
    EXPECT_EQ(parse({"--mode", name}).folding.mode, mode) << name;
  }
  EXPECT_THAT(complaint({"--mode=caffe"}), HasSubstr("--mode"));
}

TEST(ProfileOptions, TakeDlprofsReports) {
  const ProfileCommand command = parse({"--reports=node_op,detail,op_type"});
  EXPECT_THAT(command.outputs.reports, ElementsAre("op_type", "detail"));
  EXPECT_THAT(command.outputs.formats, ElementsAre("csv"));
  EXPECT_THAT(parse({"--reports=all"}).outputs.reports, testing::SizeIs(15));
  EXPECT_THAT(complaint({"--reports=detials"}), HasSubstr("detail"));
}

TEST(ProfileOptions, SampleWhereTheyAreTold) {
  EXPECT_FALSE(parse({}).options.pc_sampling.has_value());
  EXPECT_FALSE(parse({"--replay-mode=none"}).options.pc_sampling.has_value());
  EXPECT_EQ(parse({"--replay-mode=none", "--pc-sampling"}).options.pc_sampling, 17U);
  EXPECT_EQ(parse({"--pc_sampling=5", "--replay-mode=none"}).options.pc_sampling, 5U);
  EXPECT_THAT(complaint({"--pc-sampling"}), HasSubstr("--replay-mode none"));
  EXPECT_THAT(complaint({"--pc-sampling=32", "--replay-mode=none"}), HasSubstr("from 5 to 31"));
}

TEST(ProfileOptions, StallsAreSampledWhereThatIsCheaper) {
  const auto sampled = [](std::vector<std::string> words) {
    words.emplace_back("--section=stall");
    const capture::ProfileOptions options = parse(words).options;
    EXPECT_TRUE(!options.pc_sampling || options.collect == capture::Collect::none);
    return options.pc_sampling.has_value();
  };
  EXPECT_TRUE(sampled({}));
  EXPECT_TRUE(sampled({"--pc-sampling=20"}));
  EXPECT_TRUE(sampled({"--section=occupancy", "--replay-mode=none"}));
  for (const char* word : {"--section=occupancy", "--set=quick", "--metrics=dram__bytes.sum", "--replay-mode=kernel", "-kgemm",
                           "--samples=2", "--keep-counters", "--cache-control=all", "-c3", "--devices=0"}) {
    EXPECT_FALSE(sampled({word})) << word;
  }
}

TEST(ProfileOptions, SimpleModeHasNoOps) {
  EXPECT_FALSE(parse({"--mode=simple"}).outputs.database);
  EXPECT_THAT(parse({"-m", "simple", "--reports=all"}).outputs.reports, ElementsAre("summary", "kernel"));
  EXPECT_THAT(complaint({"-m", "simple", "--reports=tensor"}), HasSubstr("simple"));
  EXPECT_THAT(complaint({"-m", "simple", "--key_node=x"}), HasSubstr("simple"));
  EXPECT_THAT(complaint({"-m", "simple", "--domains=x"}), HasSubstr("simple"));
}

TEST(ProfileOptions, RefuseTheWordsOfOtherToolsWithOurs) {
  for (const auto& [word, answer] :
       {std::pair{"--profile_name=x", "--base_name"}, std::pair{"--nsys_opts=-t cuda", "--timeline"},
        std::pair{"--nsys_profile_range=true", "--profile-from-start off"}, std::pair{"--nsys_base_name=x", "leave it out"},
        std::pair{"--detailed_mode=false", "leave it out"}, std::pair{"--mode=trtexec", "--mode tensorrt"},
        std::pair{"--export=x", "--output_path"}, std::pair{"--page=raw", "--reports metrics"}, std::pair{"--kill=on", "-c, -d"},
        std::pair{"--csv", "--format csv"}, std::pair{"--import=x", "dlkprof report"}, std::pair{"--trace=cuda", "--timeline"},
        std::pair{"-t", "--timeline"}, std::pair{"--print-summary=per-kernel", "--reports measured"},
        std::pair{"--replay-mode=application", "--replay-mode kernel"}, std::pair{"--replay-mode=range", "iteration"},
        std::pair{"--section=WarpStateStats", "--section stall"}, std::pair{"--set=default", "--set basic"}}) {
    EXPECT_THAT(complaint({word}), HasSubstr(answer)) << word;
  }
}

TEST(ProfileOptions, RefuseARangeThatEndsBeforeItBegins) {
  EXPECT_THAT(complaint({"--iter_start=5", "--iter_stop=4"}), HasSubstr("--iter_stop 4"));
  EXPECT_NO_THROW((void)parse({"--iter_start=5", "--iter_stop=5"}));
  EXPECT_THAT(complaint({"--iter_start=-1"}), HasSubstr("--iter_start"));
}

}  // namespace
}  // namespace dlkprof::cli::profile_options_test
