#include "report/launches/reports.h"

#include <gtest/gtest.h>

#include "support/sample_run.h"

namespace dlkprof::report::asked_test {
namespace {

cupti::Catalogue catalogue() { return cupti::Catalogue::load(DLKPROF_SOURCE_DIR "/metrics"); }

std::vector<std::string> names(const Asked& asked) {
  std::vector<std::string> all;
  for (const cupti::Section& section : asked.sections) all.push_back(section.name);
  return all;
}

model::Timeline run_that_asked_for(const std::vector<capture::MetricRequest>& requests) {
  capture::ProfileOptions options;
  options.metrics = requests;
  model::Timeline run;
  run.processes.resize(1);
  run.processes[0].record.options_json = capture::to_json(options);
  return run;
}

TEST(AskedOf, NamesTheSectionsAskedForWhole) {
  const cupti::Catalogue all = catalogue();
  std::vector<capture::MetricRequest> requests = cupti::requests({all.section("stall"), all.section("tensor")});
  requests.push_back({{"my__own.sum"}});
  const Asked asked = asked_of(run_that_asked_for(requests), all);
  EXPECT_EQ(names(asked), (std::vector<std::string>{"launch", "stall", "tensor"}));  // launch needs no counter
  EXPECT_EQ(asked.metrics, std::vector<std::string>{"my__own.sum"});
}

TEST(AskedOf, EverySectionWhereTheCaptureDoesNotSay) {
  const cupti::Catalogue all = catalogue();
  model::Timeline run;
  run.processes.resize(1);
  run.processes[0].record.options_json = "{broken";
  EXPECT_EQ(asked_of(run, all).sections.size(), all.sections().size());
}

}  // namespace
}  // namespace dlkprof::report::asked_test
