#include "inject/timeline/nvtx_scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace dlkprof::inject::nvtx_scopes_test {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::unique_ptr<NvtxScopes> including(const std::string& filter) { return NvtxScopes::of({.nvtx_include = {filter}}); }

TEST(NvtxScopes, AreNoneWhereNobodyFilters) { EXPECT_EQ(NvtxScopes::of({}), nullptr); }

// Each test on a thread of its own, which has no ranges of another's.
void on_a_thread(const auto& what) { std::thread(what).join(); }

TEST(NvtxScopes, LaunchesAreTakenWhileTheRangeIsOpen) {
  on_a_thread([] {
    const auto scopes = including("a/");
    EXPECT_FALSE(scopes->takes_launch());
    scopes->push("", "a");
    EXPECT_TRUE(scopes->takes_launch());
    scopes->push("", "b");
    scopes->pop("other");
    EXPECT_TRUE(scopes->takes_launch());
    scopes->pop("");
    scopes->pop("");
    EXPECT_FALSE(scopes->takes_launch());
    scopes->pop("");  // one too many
    EXPECT_FALSE(scopes->takes_launch());
  });
}

TEST(NvtxScopes, PushedRangesAreTheThreadsOwn) {
  on_a_thread([] {
    const auto scopes = including("a/");
    scopes->push("", "a");
    on_a_thread([&] { EXPECT_FALSE(scopes->takes_launch()); });
    EXPECT_TRUE(scopes->takes_launch());
  });
}

TEST(NvtxScopes, StartedRangesAreTheProcesss) {
  on_a_thread([] {
    const auto scopes = including("net@a");
    scopes->start(7, "net", "a");
    scopes->start(8, "net", "a");
    on_a_thread([&] { EXPECT_TRUE(scopes->takes_launch()); });
    EXPECT_TRUE(scopes->takes_launch());
    scopes->end(7);
    EXPECT_TRUE(scopes->takes_launch());
    on_a_thread([&] { scopes->end(8); });
    EXPECT_FALSE(scopes->takes_launch());
    scopes->end(8);
  });
}

TEST(NvtxScopes, RangesBeyondTheLimitAreCounted) {
  on_a_thread([] {
    const auto scopes = including("a/");
    scopes->push("", "a");
    for (std::size_t i = 0; i < 2 * NvtxScopes::kMostPushed; ++i) scopes->push("", "b");
    for (std::size_t i = 0; i < 2 * NvtxScopes::kMostPushed; ++i) scopes->pop("");
    EXPECT_TRUE(scopes->takes_launch());
    scopes->pop("");
    EXPECT_FALSE(scopes->takes_launch());
  });
}

TEST(NvtxScopes, NearMissesAreProposedAsFilters) {
  on_a_thread([] {
    const auto scopes = including("forward");
    EXPECT_EQ(scopes->near_misses(), std::nullopt);  // no launch asked
    scopes->push("", "");
    for (const char* name : {"1", "2", "3", "4", "5", "6", "Forward"}) scopes->push("net", name);
    EXPECT_FALSE(scopes->takes_launch());
    EXPECT_THAT(scopes->near_misses(), Optional(std::string("there are net@Forward/, net@1/, net@2/, net@3/, net@4/, ...")));
    scopes->start(1, "", "forward");
    EXPECT_TRUE(scopes->takes_launch());
    EXPECT_EQ(scopes->near_misses(), std::nullopt);
  });
}

TEST(NvtxScopes, NamesOfAnotherCannotDriveTheTerminal) {
  on_a_thread([] {
    const auto scopes = including("a/");
    scopes->push("", "\x1b[2J");
    EXPECT_FALSE(scopes->takes_launch());
    EXPECT_THAT(scopes->near_misses(), Optional(HasSubstr(R"(\x1b\[2J/)")));
  });
}

}  // namespace
}  // namespace dlkprof::inject::nvtx_scopes_test
