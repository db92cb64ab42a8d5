#include "inject/timeline/range_joiner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlkprof::inject::range_joiner_test {
namespace {

using capture::RangeEvent;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::uint64_t id_of(std::uint64_t thread, std::uint64_t number) { return thread << kRangeThreadShift | number; }

class RangeJoinerTest : public testing::Test {
 protected:
  // What is whole thereby, by number, with its end.
  std::vector<std::pair<std::uint64_t, std::int64_t>> begin(std::vector<RangeEvent> ranges) { return join<RangeEvent>(ranges); }
  std::vector<std::pair<std::uint64_t, std::int64_t>> end(std::vector<RangeEnd> ends) { return join<RangeEnd>(ends); }
  std::vector<std::pair<std::uint64_t, std::int64_t>> take_open() {
    std::vector<RangeEvent> whole;
    joiner_.take_open(whole);
    return with_ends(whole);
  }
  static RangeEvent open(std::uint64_t id) { return {.id = id, .end_ns = kStillOpen}; }

 private:
  template <typename Event>
  std::vector<std::pair<std::uint64_t, std::int64_t>> join(std::span<const Event> events) {
    std::vector<RangeEvent> whole;
    joiner_.add(events, whole);
    return with_ends(whole);
  }
  static std::vector<std::pair<std::uint64_t, std::int64_t>> with_ends(const std::vector<RangeEvent>& whole) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> found;
    for (const RangeEvent& range : whole) found.emplace_back(range.id, range.end_ns);
    return found;
  }
  RangeJoiner joiner_;
};

TEST_F(RangeJoinerTest, RangesWaitForTheirEnds) {
  EXPECT_THAT(begin({open(1), open(2), open(3)}), IsEmpty());
  EXPECT_THAT(end({{3, 30}, {2, 20}}), ElementsAre(Pair(3, 30), Pair(2, 20)));
  EXPECT_THAT(begin({open(4)}), IsEmpty());
  EXPECT_THAT(end({{4, 0}, {1, 0}}), ElementsAre(Pair(4, 0), Pair(1, 0))) << "never ended";
}

TEST_F(RangeJoinerTest, EndsWaitForTheirRanges) {
  EXPECT_THAT(end({{id_of(1, 5), 50}, {id_of(2, 5), 60}}), IsEmpty());
  EXPECT_THAT(begin({open(id_of(1, 4)), open(id_of(1, 5))}), ElementsAre(Pair(id_of(1, 5), 50)));
  EXPECT_THAT(begin({open(id_of(2, 5))}), ElementsAre(Pair(id_of(2, 5), 60)));
  EXPECT_THAT(end({{id_of(1, 4), 70}}), ElementsAre(Pair(id_of(1, 4), 70)));
}

TEST_F(RangeJoinerTest, WholeOnesPass) {
  EXPECT_THAT(begin({{.id = 2, .end_ns = 7}, open(3), {.id = 1, .end_ns = 0}}), ElementsAre(Pair(2, 7), Pair(1, 0)));
}

TEST_F(RangeJoinerTest, WhatIsOpenIsTakenOnce) {
  EXPECT_THAT(begin({open(1), open(2)}), IsEmpty());
  EXPECT_THAT(end({{1, 10}}), ElementsAre(Pair(1, 10)));
  EXPECT_THAT(take_open(), ElementsAre(Pair(2, 0)));
  EXPECT_THAT(take_open(), IsEmpty());
}

TEST_F(RangeJoinerTest, ThreadsTakeTurns) {
  EXPECT_THAT(begin({open(id_of(1, 1)), open(id_of(2, 1)), open(id_of(1, 2)), open(id_of(2, 2))}), IsEmpty());
  EXPECT_THAT(end({{id_of(1, 2), 12}, {id_of(2, 1), 21}, {id_of(1, 1), 11}}),
              ElementsAre(Pair(id_of(1, 2), 12), Pair(id_of(2, 1), 21), Pair(id_of(1, 1), 11)));
  EXPECT_THAT(take_open(), ElementsAre(Pair(id_of(2, 2), 0)));
}

TEST_F(RangeJoinerTest, OneEndsOnce) {
  EXPECT_THAT(begin({open(1)}), IsEmpty());
  EXPECT_THAT(end({{1, 10}, {1, 20}}), ElementsAre(Pair(1, 10)));
}

}  // namespace
}  // namespace dlkprof::inject::range_joiner_test
