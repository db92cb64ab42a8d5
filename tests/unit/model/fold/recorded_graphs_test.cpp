// Captures of programs with CUDA graphs, recorded on a GPU, fold to the ops that captured each kernel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/fold/fold.h"
#include "model/timeline/timeline.h"
#include "support/golden.h"

namespace dlkprof::model::recorded_graphs_test {
namespace {

// Of each op the kernels that graphs launched for it, and how often.
std::string kernels_in_graphs(const std::string& capture) {
  const auto path = std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests/data/captures" / capture;
  const Timeline timeline = load_timeline(std::vector<std::filesystem::path>{path});
  const Fold fold = model::fold(timeline);
  std::map<std::tuple<std::string, std::string, std::string>, int> launches;
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const Activity& activity = timeline.activities[i];
    const Kernel& kernel = timeline.kernels[activity.kernel];
    if (!activity.in_graph || kernel.kind != capture::ActivityKind::kernel) continue;
    const Op& op = fold.ops[fold.instances[fold.activity_instance[i]].op];
    ++launches[{op.name, op.id, kernel.mangled}];
  }
  std::string text = "op,op id,kernel,launches\n";
  for (const auto& [line, count] : launches) {
    text += fmt::format("{},{},{:.60},{}\n", std::get<0>(line), std::get<1>(line), std::get<2>(line), count);
  }
  return text;
}

TEST(RecordedGraphs, KernelsOfGraphedCallablesBelongToTheirOps) {
  test::expect_golden("graphs_cifar10.csv", kernels_in_graphs("graphs_cifar10.dlkcap"));
}

TEST(RecordedGraphs, KernelsOfChildGraphsBelongToTheirHloOps) {
  test::expect_golden("graphs_jax_mlp.csv", kernels_in_graphs("graphs_jax_mlp.dlkcap"));
}

}  // namespace
}  // namespace dlkprof::model::recorded_graphs_test
