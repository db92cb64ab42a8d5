// Views that the page (viewer/) draws a job from: its reports, and figures of each rank by iteration and by op.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "job/analysis.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace dlkprof::job {

struct PageBounds {
  std::size_t cells = 300'000;  // rows of rank_iterations, and of rank_ops
  std::size_t most_ops = 200, fewest = 10;
  std::size_t rows = 10'000;  // of each report; ranks and iterations are not cut
};

struct PageViews {
  std::vector<store::View> views;    // for help: their `from` and expressions are empty
  std::vector<std::string> notices;  // what was left out
};

// Fills an empty database of our own. Ops are those that findings and stragglers name and those that differ most between ranks;
// iterations those in which ranks waited longest; as many as there is room for. Throws Error where `path` cannot be read.
[[nodiscard]] PageViews write_page_views(store::Connection& connection, const std::filesystem::path& path, const JobAnalysis& job,
                                         const PageBounds& bounds = {});

// "iteration_ns" of "Iteration (ns)": what a report's column is called in its view.
[[nodiscard]] std::string column_of_view(const std::string& title);

// Them in Markdown: what docs/user/jobs.md says.
[[nodiscard]] std::string describe_page_views();

}  // namespace dlkprof::job
