#include "model/timeline/graph_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace dlkprof::model::graph_nodes_test {
namespace {

using capture::GraphEvent;
using capture::GraphEventKind;
using testing::ElementsAre;

constexpr std::uint64_t id(std::uint64_t graph, std::uint64_t node) { return graph << 32U | node; }

GraphEvent made(std::uint64_t graph, std::uint64_t node, std::uint64_t range, std::uint64_t capture_range = 0) {
  return {.id = id(graph, node), .graph = graph, .range = range, .capture_range = capture_range};
}
GraphEvent cloned(std::uint64_t node, std::uint64_t original) {
  return {.kind = GraphEventKind::node_cloned, .id = node, .original = original};
}

// RangeEvent::id n has index n - 1.
std::uint32_t range_of(std::uint64_t range) { return range == 0 ? kNone : static_cast<std::uint32_t>(range - 1); }

std::vector<GraphNode> resolved(const std::vector<GraphEvent>& events, const std::vector<std::uint64_t>& ran) {
  GraphNodes nodes;
  for (const GraphEvent& event : events) EXPECT_TRUE(nodes.add(event));
  for (const std::uint64_t node : ran) (void)nodes.number_of(node);
  std::vector<GraphNode> found;
  std::vector<GraphNode> of_each;
  for (const std::uint32_t index : std::move(nodes).resolve(range_of, found)) {
    of_each.push_back(index == kNone ? GraphNode{.range = 999} : found[index]);
  }
  return of_each;
}

constexpr GraphNode kUnknown{.range = 999};

TEST(GraphNodesTest, FollowsClonesToWhatWasCaptured) {
  const std::vector<GraphEvent> events{made(1, 1, 5, 2), made(1, 2, 6, 2), cloned(id(2, 1), id(1, 1)),
                                       cloned(id(2, 2), id(1, 2))};
  EXPECT_THAT(resolved(events, {id(2, 2), id(2, 1), id(2, 3)}), ElementsAre(GraphNode{5, 1, 0}, GraphNode{4, 1, 0}, kUnknown));
}

TEST(GraphNodesTest, AClonesOwnMakingDoesNotCount) {
  EXPECT_THAT(resolved({made(1, 1, 5), made(2, 1, 9), cloned(id(2, 1), id(1, 1))}, {id(2, 1)}),
              ElementsAre(GraphNode{4, kNone, 0}));
  EXPECT_THAT(resolved({cloned(id(2, 1), id(1, 1)), made(2, 1, 9), made(1, 1, 5)}, {id(2, 1)}),
              ElementsAre(GraphNode{4, kNone, 0}));
}

TEST(GraphNodesTest, GoesByTheHalvesOfNumbersWhereACloneIsNotTold) {
  const GraphEvent executable{.kind = GraphEventKind::executable_made, .id = 4, .original = 3};
  const GraphEvent copy{.kind = GraphEventKind::graph_cloned, .id = 3, .original = 1};
  // Of a child graph, too, whose copies are told as made on the thread that instantiates.
  EXPECT_THAT(resolved({made(1, 7, 5), cloned(id(3, 7), id(1, 7)), executable, made(4, 7, 9)}, {id(4, 7)}),
              ElementsAre(GraphNode{4, kNone, 0, true}));
  EXPECT_THAT(resolved({made(3, 7, 5), executable}, {id(4, 7), id(4, 8)}), ElementsAre(GraphNode{4, kNone, 0}, kUnknown));
  EXPECT_THAT(resolved({made(1, 7, 5), copy}, {id(3, 7)}), ElementsAre(GraphNode{4, kNone, 0}));
}

TEST(GraphNodesTest, WhatIsClonedTwiceIsInAChild) {
  const std::vector<GraphEvent> events{made(1, 1, 5), cloned(id(2, 1), id(1, 1)), cloned(id(3, 1), id(2, 1))};
  EXPECT_THAT(resolved(events, {id(3, 1)}), ElementsAre(GraphNode{4, kNone, 0, true}));
}

// Two graphs of one node each and one of two were put into graph 1; as JAX does (CUDA 13.0).
std::vector<GraphEvent> with_children() {
  std::vector<GraphEvent> events{made(1, 0, 1), made(2, 0, 2), cloned(id(3, 0), id(2, 0)), made(1, 1, 2),
                                 made(4, 0, 3), made(4, 1, 4), cloned(id(5, 0), id(4, 0)), cloned(id(5, 1), id(4, 1)),
                                 made(1, 2, 3)};
  const std::vector<GraphEvent> instantiated{cloned(id(6, 0), id(1, 0)), cloned(id(7, 0), id(3, 0)), cloned(id(6, 1), id(1, 1)),
                                             cloned(id(8, 0), id(5, 0)), cloned(id(8, 1), id(5, 1)), cloned(id(6, 2), id(1, 2))};
  events.insert(events.end(), instantiated.begin(), instantiated.end());
  return events;
}

TEST(GraphNodesTest, WhatRunsOfChildrenIsNumberedAfterTheOthers) {
  EXPECT_THAT(resolved(with_children(), {id(6, 5), id(6, 0), id(6, 3), id(6, 4)}),
              ElementsAre(GraphNode{3, kNone, 0, true}, GraphNode{0, kNone, 1}, GraphNode{1, kNone, 2, true},
                          GraphNode{2, kNone, 0, true}));
}

TEST(GraphNodesTest, OfChildrenOfWhichAnotherNumberRanNothingIsTold) {
  EXPECT_THAT(resolved(with_children(), {id(6, 0), id(6, 3), id(6, 4)}), ElementsAre(GraphNode{0, kNone, 0}, kUnknown, kUnknown));
  std::vector<GraphEvent> nested = with_children();
  nested.insert(nested.begin(), {made(9, 0, 7), cloned(id(10, 0), id(9, 0)), cloned(id(3, 1), id(2, 1))});
  EXPECT_THAT(resolved(nested, {id(6, 3), id(6, 4), id(6, 5), id(6, 6)}), ElementsAre(kUnknown, kUnknown, kUnknown, kUnknown));
}

TEST(GraphNodesTest, CirclesEnd) {
  EXPECT_THAT(
      resolved({cloned(id(1, 1), id(2, 1)), cloned(id(2, 1), id(1, 1)), cloned(id(3, 1), id(3, 1))}, {id(1, 1), id(3, 1)}),
      ElementsAre(kUnknown, kUnknown));
}

TEST(GraphNodesTest, GraphsOfSeveralCapturesAreNumberedOn) {
  std::vector<GraphNode> found{{.graph = 6}};
  GraphNodes nodes;
  EXPECT_TRUE(nodes.add(made(1, 1, 5)));
  EXPECT_FALSE(nodes.add({.kind = GraphEventKind{9}, .id = 1, .original = 2}));
  EXPECT_EQ(nodes.number_of(id(1, 1)), 0U);
  EXPECT_EQ(nodes.number_of(id(1, 2)), 1U);
  EXPECT_EQ(nodes.number_of(id(1, 1)), 0U);
  EXPECT_THAT(std::move(nodes).resolve(range_of, found), ElementsAre(1U, kNone));
  EXPECT_EQ(found.back().graph, 7U);
}

}  // namespace
}  // namespace dlkprof::model::graph_nodes_test
