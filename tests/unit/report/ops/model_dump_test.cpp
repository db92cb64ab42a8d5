#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/sample_fold.h"

namespace dlkprof::report::model_dump_test {
namespace {

nlohmann::json dump(const model::Profile& sample) {
  std::string text;
  write_model(sample, [&text](std::string_view piece) { text += piece; });
  return nlohmann::json::parse(text);
}

TEST(ModelDump, HasTheFold) {
  const auto json = dump(test::sample_fold());
  EXPECT_EQ(json["key_node"]["name"], "Optimizer.step#SGD.step");
  EXPECT_EQ(json["key_node"]["source"], "framework");
  EXPECT_EQ(json["iterations"][1]["start_ns"], 3000);
  EXPECT_EQ(json["ops"][1]["direction"], "bprop");
  EXPECT_EQ(json["groups"][1]["parent"], 0);
  EXPECT_EQ(json["instances"][1]["forward"], 0);
  EXPECT_EQ(json["instances"].size(), 5U);
}

TEST(ModelDump, SaysWhichInstanceAKernelBelongsTo) {
  const auto json = dump(test::sample_fold());
  const auto& activity = json["works"][2];
  EXPECT_EQ(activity["instance"], 2);
  EXPECT_EQ(json["kernels"][activity["kernel"].get<std::size_t>()]["name"], "gemm_h884");
  EXPECT_TRUE(json["works"][3]["start_ns"].is_null()) << "not timed";
}

TEST(ModelDump, NoneIsNull) {
  const auto json = dump(test::sample_fold());
  EXPECT_TRUE(json["groups"][0]["parent"].is_null());
  EXPECT_TRUE(json["instances"][4]["start_ns"].is_null());
  EXPECT_TRUE(json["ops"][2]["direction"].is_null());
}

TEST(ModelDump, OfNothing) {
  const auto json = dump({});
  EXPECT_TRUE(json["ops"].empty());
  EXPECT_TRUE(json["key_node"]["name"].is_null());
}

}  // namespace
}  // namespace dlkprof::report::model_dump_test
