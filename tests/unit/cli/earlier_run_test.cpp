#include "cli/sweep/earlier_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "capture/options.h"
#include "capture/writer.h"
#include "cli/profile/profile_command.h"
#include "store/database.h"
#include "support/made_up_run.h"
#include "support/temporary_directory.h"

namespace dlkprof::cli::earlier_run_test {
namespace {

using Change = std::function<void(ProfileCommand&)>;

class EarlierRunTest : public testing::Test {
 protected:
  EarlierRunTest() {
    command_.outputs.directory = folder_.path();
    command_.outputs.base_name = "x";
    command_.outputs.database = true;
    command_.program = {"python", "train.py", "4"};
    command_.options.metrics = {{{"a.sum", "b.sum"}}};
  }

  [[nodiscard]] std::filesystem::path in(const std::string& name) const { return folder_.path() / name; }

  // The database as `command_` writes it.
  void write_database(const std::string& exit_code, const std::vector<capture::Fact>& more = {}) const {
    const test::MadeUpRun run{.iterations = 3, .launches = 20, .ranges = 100};
    const auto capture = test::write_made_up_run(folder_.path(), run, "made_up");
    model::Timeline timeline = model::load_timeline(std::vector{capture});
    auto options = options_for(command_);
    options.application_pid = 42;
    for (model::Process& process : timeline.processes) process.record.options_json = capture::to_json(options);
    timeline.facts.push_back({kFactSource, kExitCodeFact, exit_code});
    timeline.facts.insert(timeline.facts.end(), more.begin(), more.end());
    const Folding& folding = command_.folding;
    const model::Profile made = analyse(std::move(timeline), folding);
    store::write_database(in("x_dldb.sqlite"), made);
  }

  // As `--database` does.
  void fold_otherwise(const Folding& folding) const {
    const model::Profile made = analyse(store::read_timeline(in("x_dldb.sqlite")), folding);
    (void)store::add_aggregation(in("x_dldb.sqlite"), made);
  }

  // The capture as `command_` leaves it when it is killed.
  void write_capture() const {
    auto writer = capture::Writer::create(folder_.path(), "x");
    capture::ProcessRecord process;
    process.options_json = capture::to_json(options_for(command_));
    writer.append(process);
  }

  [[nodiscard]] EarlierRun found(const Change& change = [](ProfileCommand&) {}) const {
    ProfileCommand command = command_;
    change(command);
    return earlier_run_of(command);
  }

  test::TemporaryDirectory folder_;
  ProfileCommand command_;
};

// Each asks for something else.
const std::vector<Change> kChanges{
    [](ProfileCommand& command) { command.program.back() = "5"; },
    [](ProfileCommand& command) { command.program.emplace_back(""); },
    [](ProfileCommand& command) {
      command.program = {"python", "train.py4"};
    },
    [](ProfileCommand& command) { command.options.samples = 3; },
    [](ProfileCommand& command) { command.options.collect = capture::Collect::none; },
    [](ProfileCommand& command) { command.options.metrics.clear(); },
    [](ProfileCommand& command) { command.options.selection.kernel_name = "gemm"; },
    [](ProfileCommand& command) { command.folding.mode = Mode::pytorch; },
    [](ProfileCommand& command) { command.folding.fold.key_node = "step"; },
    [](ProfileCommand& command) { command.folding.fold.domains = {"default"}; },
    [](ProfileCommand& command) { command.folding.range.start = 2; },
    [](ProfileCommand& command) { command.folding.range.stop = 2; },
};

TEST_F(EarlierRunTest, NothingIsThere) { EXPECT_EQ(found(), EarlierRun::none); }

TEST_F(EarlierRunTest, ADatabaseIsKnownByItsCommandAndOptions) {
  write_database("0");
  EXPECT_EQ(found(), EarlierRun::complete);
  for (std::size_t i = 0; i < kChanges.size(); ++i) EXPECT_EQ(found(kChanges[i]), EarlierRun::other) << i;
}

TEST_F(EarlierRunTest, WhatIsSaidAndWhetherFilesAreReplacedDoesNotMatter) {
  write_database("0");
  EXPECT_EQ(found([](ProfileCommand& command) {
              command.options.quiet = true;
              command.verbosity = Verbosity::quiet;
              command.outputs.force = true;
            }),
            EarlierRun::complete);
}

TEST_F(EarlierRunTest, AProgramThatFailedIsNotDone) {
  write_database("3");
  EXPECT_EQ(found(), EarlierRun::incomplete);
  EXPECT_EQ(found(kChanges.front()), EarlierRun::other);
}

TEST_F(EarlierRunTest, AProgramThatWasToldToEndIsNotDone) {
  write_database("0", {{kFactSource, kToldToEndFact, "15"}});
  EXPECT_EQ(found(), EarlierRun::incomplete);
  write_database("0", {{"the program", kToldToEndFact, "15"}});
  EXPECT_EQ(found(), EarlierRun::complete) << "what others say of it";
}

TEST_F(EarlierRunTest, WhatWasFoldedOtherwiseSinceIsFoldedAgain) {
  command_.folding.fold.domains = {"default", "more"};
  command_.folding.range = {0, 1};
  write_database("0");
  EXPECT_EQ(found(), EarlierRun::complete);
  std::vector<Folding> others(4, command_.folding);
  others[0].fold.domains = {"default"};
  others[1].range.start.reset();
  others[2].range.stop = 0;
  others[3] = {};
  for (const Folding& other : others) {
    fold_otherwise(other);
    EXPECT_EQ(found(), EarlierRun::refolded);
    fold_again(command_);
    EXPECT_EQ(found(), EarlierRun::complete);
  }
}

TEST_F(EarlierRunTest, AFoldingThatCannotBeHadIsNotTriedForEver) {
  write_database("0");
  const std::filesystem::path path = in("x_dldb.sqlite");
  command_.folding.range.start = 4'000'000'000;
  fold_again(command_);  // as the profile itself did, without it
  const model::Profile run = store::read_stored_run(path);
  EXPECT_EQ(run.range, command_.folding.range);
  EXPECT_EQ(run.aggregate.first_iteration, 1U) << "the steady range";
}

TEST_F(EarlierRunTest, ReportsThatAreMissingAreNotDone) {
  write_database("0");
  const Change detail = [](ProfileCommand& command) {
    command.outputs.reports = {"detail"};
    command.outputs.formats = {"csv"};
  };
  EXPECT_EQ(found(detail), EarlierRun::incomplete);
  std::ofstream(in("x_detail.csv")) << "";
  EXPECT_EQ(found(detail), EarlierRun::complete);
}

TEST_F(EarlierRunTest, ACaptureAloneIsAnUnfinishedRun) {
  write_capture();
  EXPECT_EQ(found(), EarlierRun::incomplete);
  for (std::size_t i = 0; i < kChanges.size(); ++i) EXPECT_EQ(found(kChanges[i]), EarlierRun::other) << i;
}

TEST_F(EarlierRunTest, WhatCannotBeReadIsSomethingElse) {
  std::ofstream(in("x.dlkcap")) << "no capture";
  EXPECT_EQ(found(), EarlierRun::other);
  write_database("0");
  EXPECT_EQ(found(), EarlierRun::complete);
  std::filesystem::resize_file(in("x_dldb.sqlite"), std::filesystem::file_size(in("x_dldb.sqlite")) / 2);
  EXPECT_EQ(found(), EarlierRun::other);
}

TEST_F(EarlierRunTest, ProfilesOfOlderVersionsAreSomethingElse) {
  const test::MadeUpRun run{.iterations = 3, .launches = 20, .ranges = 100};
  (void)test::write_made_up_run(folder_.path(), run, "x");
  EXPECT_EQ(found(), EarlierRun::other);
}

}  // namespace
}  // namespace dlkprof::cli::earlier_run_test
