// dlkprof demo: the recorded captures that ship with dlkprof, decoded here; no GPU is needed.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/analysis.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/verbs.h"
#include "model/timeline/raw_counters.h"
#include "report/diagnosis/reports.h"
#include "report/launches/asked.h"
#include "report/launches/coverage.h"
#include "report/launches/kernel_tables.h"
#include "report/ops/top_ops.h"

namespace dlkprof::cli {
namespace {

std::vector<std::filesystem::path> recorded_captures(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> captures;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".dlkcap") captures.push_back(entry.path());
  }
  if (captures.empty()) {
    throw Error("there is no recorded capture to show", printable(folder.string()) + (failure ? ": " + failure.message() : ""),
                "Keep share/ beside bin/ as it was installed, or profile a program of your own: dlkprof --help");
  }
  std::sort(captures.begin(), captures.end());
  return captures;
}

}  // namespace

int run_demo(int argc, char** argv) {
  CLI::App app("Shows the kernels and the top ops of the recorded captures that ship with dlkprof; no GPU is needed.",
               "dlkprof demo");
  std::string cupti_path;
  std::string folder = (share_folder() / "captures").string();
  app.add_option("--cupti-path", cupti_path, "The libcupti to evaluate counters with, or its folder")->type_name("<path>");
  app.add_option("--captures", folder, "Another folder with captures")->type_name("<folder>");
  if (parse(app, argc, argv).done) return 0;

  check_cupti_path(cupti_path);
  const cupti::Catalogue catalogue = load_catalogue();
  for (const std::filesystem::path& path : recorded_captures(folder)) {
    model::RawEvaluator evaluator(cupti_path, {});
    const model::Profile profile = analyse(model::load_timeline(std::array{path}, &evaluator), {});
    const report::Asked asked = report::asked_of(profile.timeline, catalogue);
    print_data(fmt::format("==== {} ====\n\n", printable(path.filename().string(), 60)));
    print_data(report::kernel_tables(profile.timeline, {asked.sections, asked.metrics, is_styled(STDOUT_FILENO)}));
    if (profile.has_ops()) print_data("\n" + report::top_ops(profile) + "\n" + report::top_findings(profile));
    print_data("\n" + report::coverage(profile.timeline) + "\n");
  }
  return 0;
}

}  // namespace dlkprof::cli
