// dlkprof demo: the recorded captures that ship with dlkprof, in two questions: what holds the CNN back, and what its batch size
// changes. No GPU is needed.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "advise/compare/compare_runs.h"
#include "advise/run_figures.h"
#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/analysis.h"
#include "cli/arguments.h"
#include "cli/installation.h"
#include "cli/verbs.h"
#include "model/timeline/raw_counters.h"
#include "report/compare/compare_view.h"
#include "report/screen/screen.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// The run that is shown, and the one that it is compared with. Of another folder: the first capture alone.
constexpr const char* kDemoRun = "cifar10_b512.dlkcap";
constexpr const char* kDemoBase = "cifar10_b4.dlkcap";

std::vector<fs::path> recorded_captures(const fs::path& folder) {
  std::vector<fs::path> captures;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".dlkcap") captures.push_back(entry.path());
  }
  if (captures.empty()) {
    throw Error("there is no recorded capture to show", printable(folder.string()) + (failure ? ": " + failure.message() : ""),
                "Keep share/ beside bin/ as it was installed, or profile a program of your own: dlkprof --help");
  }
  std::sort(captures.begin(), captures.end());
  return captures;
}

model::Profile load_demo(const fs::path& path, const std::string& cupti_path) {
  model::RawEvaluator evaluator(cupti_path, {});
  return analyse(model::load_timeline(std::array{path}, &evaluator), {});
}

std::string changes(const model::Profile& smaller, const model::Profile& shown, const report::Page& page) {
  const auto figures = [](const model::Profile& profile, const char* label) {
    advise::RunFigures run = advise::figures_of(profile);
    run.label = label;
    return run;
  };
  const advise::ComparedRuns compared = advise::compare_all({figures(smaller, "batch 4"), figures(shown, "batch 512")});
  return report::compare_text(report::compare_view(compared, 1), page, true);
}

}  // namespace

int run_demo(int argc, char** argv) {
  CLI::App app(
      "Shows what dlkprof says of a CNN that was recorded on an H200, and what its batch size changes. No GPU is needed.",
      "dlkprof demo");
  std::string cupti_path;
  std::string folder = (share_folder() / "captures").string();
  app.add_option("--captures", folder, "Another folder with captures")->type_name("<folder>");
  app.add_option("--cupti-path", cupti_path, "The libcupti to evaluate counters with, or its folder")->type_name("<path>");
  if (parse(app, argc, argv).done) return 0;
  check_cupti_path(cupti_path);

  const std::vector<fs::path> captures = recorded_captures(folder);
  const report::Page page{text_width(STDOUT_FILENO), is_styled(STDOUT_FILENO)};
  const auto named = [&captures](const char* name) {
    return std::find_if(captures.begin(), captures.end(), [name](const fs::path& path) { return path.filename() == name; });
  };
  const auto base = named(kDemoBase);
  const fs::path path = named(kDemoRun) == captures.end() ? captures.front() : *named(kDemoRun);
  const auto shown_path = [](const fs::path& of) { return of.lexically_proximate(fs::current_path()).string(); };
  const std::string file = shown_path(path);
  const model::Profile profile = load_demo(path, cupti_path);
  print_data(fmt::format("$ dlkprof report {}\n\n{}", printable(file), report::screen(profile, file, page)));
  if (base != captures.end() && path != *base) {
    print_data(fmt::format("\n$ dlkprof compare {} {} --labels 'batch 4,batch 512'\n\n{}", printable(shown_path(*base)),
                           printable(file), changes(load_demo(*base, cupti_path), profile, page)));
  }
  print_data("\nYour own program: dlkprof --mode pytorch python train.py\n");
  return 0;
}

}  // namespace dlkprof::cli
