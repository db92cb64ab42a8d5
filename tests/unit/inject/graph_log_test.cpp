#include "inject/timeline/graph_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "captured_log.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject::graph_log_test {
namespace {

using capture::GraphEvent;
using capture::GraphEventKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Handles are their numbers.
cupti::Functions numbering() {
  cupti::Functions functions;
  functions.cuptiGetGraphId = [](CUgraph graph, std::uint32_t* id) {
    *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(graph));
    return CUPTI_SUCCESS;
  };
  functions.cuptiGetGraphExecId = [](CUgraphExec graph, std::uint32_t* id) {
    *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(graph));
    return CUPTI_SUCCESS;
  };
  functions.cuptiGetGraphNodeId = [](CUgraphNode node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uintptr_t>(node);
    return *id == 666 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
  };
  return functions;
}

CUgraph graph(std::uintptr_t id) { return reinterpret_cast<CUgraph>(id); }
CUgraphNode node(std::uintptr_t id) { return reinterpret_cast<CUgraphNode>(id); }

class GraphLogTest : public testing::Test {
 protected:
  void tell(CUpti_CallbackId id, const CUpti_GraphData& data, std::uint64_t capture_range = kNotCapturing) {
    log_.log().graphs().on_resource(functions_, id, data, capture_range);
  }
  void make_node(std::uintptr_t graph_id, std::uintptr_t id, CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL,
                 std::uint64_t capture_range = kNotCapturing) {
    tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, {.graph = graph(graph_id), .node = node(id), .nodeType = type}, capture_range);
  }

  cupti::Functions functions_ = numbering();
  test::CapturedLog log_;
};

TEST_F(GraphLogTest, ANodeHasTheRangeOpenOnItsThread) {
  log_.open();
  Ranges ranges(log_.log(), log_.recorder());
  tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, {.graph = graph(3)}, 77);
  ASSERT_EQ(ranges.push_text("op"), 0);
  const std::uint64_t range = current_range();
  make_node(3, 31);
  EXPECT_EQ(ranges.pop(), 0);
  make_node(3, 32, CU_GRAPH_NODE_TYPE_MEMCPY);
  make_node(3, 33, CU_GRAPH_NODE_TYPE_EVENT_RECORD);  // no work
  test::on_other_thread([&] { make_node(3, 34, CU_GRAPH_NODE_TYPE_MEMSET); });
  EXPECT_THAT(log_.flushed().graphs, UnorderedElementsAre(GraphEvent{.id = 31, .graph = 3, .range = range, .capture_range = 77},
                                                          GraphEvent{.id = 32, .graph = 3, .capture_range = 77},
                                                          GraphEvent{.id = 34, .graph = 3, .capture_range = 77}));
}

TEST_F(GraphLogTest, ClonesAndExecutables) {
  log_.open();
  tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED, {.graph = graph(4), .originalGraph = graph(3)});
  tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, {.graph = graph(4), .node = node(41), .originalNode = node(31)});
  tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, {.graph = graph(4), .node = node(41), .originalNode = node(41)});  // of itself
  tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, {.graph = graph(4), .graphExec = reinterpret_cast<CUgraphExec>(5)});
  EXPECT_THAT(log_.flushed().graphs, ElementsAre(GraphEvent{.kind = GraphEventKind::graph_cloned, .id = 4, .original = 3},
                                                 GraphEvent{.kind = GraphEventKind::node_cloned, .id = 41, .original = 31},
                                                 GraphEvent{.kind = GraphEventKind::executable_made, .id = 5, .original = 4}));
}

TEST_F(GraphLogTest, AGraphOfTheSameNumberIsAnotherOnceItWasDestroyed) {
  log_.open();
  tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, {.graph = graph(3)}, 77);
  tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = graph(3)});
  make_node(3, 31, CU_GRAPH_NODE_TYPE_KERNEL, 88);
  EXPECT_THAT(log_.flushed().graphs, ElementsAre(GraphEvent{.id = 31, .graph = 3, .capture_range = 88}));
}

TEST_F(GraphLogTest, WhatCuptiDoesNotNumberIsLeftOut) {
  log_.open();
  make_node(3, 666);
  tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, {});
  tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, {});
  tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED, {});
  functions_ = {};  // an older library
  make_node(3, 31);
  tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, {.graph = graph(3)}, 77);
  EXPECT_THAT(log_.flushed().graphs, IsEmpty());
}

TEST_F(GraphLogTest, IsHeldUntilThereIsACaptureAndThenWrittenInBatches) {
  const std::size_t count = 2 * capture::kEventsInABatch + 5;
  for (std::size_t i = 0; i < count; ++i) make_node(3, 1000 + i);
  log_.log().flush();
  EXPECT_THAT(log_.files(), IsEmpty());
  log_.open();
  const auto written = log_.flushed();
  EXPECT_EQ(written.graphs.size(), count);
  EXPECT_EQ(written.batches, 3U);
}

TEST_F(GraphLogTest, TooManyBeforeTheFirstLaunchAreLeftOutAndTold) {
  for (std::size_t i = 0; i < GraphLog::kMostHeld + 3; ++i) make_node(3, 1000 + i);
  log_.open();
  const auto written = log_.flushed();
  EXPECT_EQ(written.graphs.size(), GraphLog::kMostHeld);
  ASSERT_EQ(written.notices.size(), 1U);
  EXPECT_EQ(written.notices[0].detail, "3 events");
}

TEST_F(GraphLogTest, WhatAThreadTellsOfAGraphStaysTogether) {
  log_.open();
  const auto clone = [this](std::uintptr_t id) {
    tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, {.node = node(id), .originalNode = node(id - 1)});
  };
  const auto instantiate = [this](std::uintptr_t id) {
    tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, {.graph = graph(id), .graphExec = reinterpret_cast<CUgraphExec>(id + 1)});
  };
  clone(11);
  test::on_other_thread([&] {
    clone(21);
    instantiate(20);
    clone(31);
  });
  clone(12);
  instantiate(10);
  const auto written = log_.flushed().graphs;
  std::vector<std::uint64_t> ids;
  for (const GraphEvent& event : written) ids.push_back(event.id);
  EXPECT_THAT(ids, ElementsAre(21, 21, 11, 12, 11, 31)) << "the executable graphs have numbers 21 and 11";
}

TEST_F(GraphLogTest, ThreadsTellSideBySide) {
  log_.open();
  std::vector<std::thread> threads;
  for (std::uintptr_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (std::uintptr_t i = 0; i < 3000; ++i) make_node(thread, 10'000 * thread + i);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(log_.flushed().graphs.size(), 12'000U);
}

}  // namespace
}  // namespace dlkprof::inject::graph_log_test
