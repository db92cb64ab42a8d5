// What a window of launches costs on the GPU of this machine, taken apart: beginning it, the launches measured in it, other
// launches meanwhile, ending it.
//   window_cost <folder of metrics> <set, or metrics with commas between> [most launches a window may have]...
// Prints milliseconds: setting up, once; then medians over the windows of kRuns runs of all passes, with the smallest and
// largest. A launch includes its kernel, as each waits for the one before; "bare" is the same launches without a session, each
// waited for.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "cupti/counter_images.h"
#include "cupti/host.h"
#include "cupti/library.h"
#include "cupti/profiling_session.h"
#include "cupti/range_profiler.h"
#include "cupti/reusable_image.h"
#include "gpu.h"
#include "program.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using bench::Gpu;
using bench::spread;

constexpr int kRuns = 5;

double milliseconds(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// One of so many.
double of_many(std::size_t count, const std::function<void()>& act) {
  return milliseconds([&] {
           for (std::size_t i = 0; i < count; ++i) act();
         }) /
         static_cast<double>(count);
}

long resident_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Of a set, or of metrics by NVPerf's names, all of which hold two underscores.
std::vector<capture::MetricRequest> requests_of(const cupti::Catalogue& catalogue, const std::string& what) {
  if (what.find("__") == what.npos) {
    std::vector<cupti::Section> sections;
    for (const std::string& name : catalogue.set(what).sections) sections.push_back(catalogue.section(name));
    return cupti::requests(sections);
  }
  std::vector<capture::MetricRequest> metrics;
  std::istringstream words(what);
  for (std::string name; std::getline(words, name, ',');) metrics.push_back({{name}});
  return metrics;
}

void measure(const cupti::Library& library, const cupti::Host& host, const Gpu& gpu, const cupti::CollectionPlan& plan,
             std::size_t most) {
  const cupti::CollectionPlan* const plans[] = {&plan};
  const auto images = cupti::CounterImages::create(library, host, plans);
  auto profiler = cupti::RangeProfiler::create(library, gpu.context);
  std::optional<cupti::ReusableImage> image;
  std::optional<cupti::ProfilingSession> session;
  const double set_up = milliseconds([&] {
    image.emplace(images ? images->empty(most) : profiler.empty_image(plan.metrics, most));
    session.emplace(library, gpu.context, image->bytes(), most);
  });
  std::vector<double> begin, launch, beside, end;
  for (int run = 0; run < kRuns; ++run) {
    for (std::size_t pass = 0; pass < plan.passes; ++pass) {
      begin.push_back(milliseconds([&] { session->begin(plan, pass); }));
      const auto one = [&] { session->enable(), gpu.launch(), session->disable(), gpu.wait(); };
      launch.push_back(of_many(most, one));
      beside.push_back(of_many(most, [&] { gpu.launch(), gpu.wait(); }));
      end.push_back(milliseconds([&] { session->end(most); }));
      image->empty();
    }
  }
  fmt::print("{:>5} launches: set up {:.1f}, begin {}, a launch {}, one beside them {}, end {} ms; {} windows; {} MB resident\n",
             most, set_up, spread(begin), spread(launch), spread(beside), spread(end), end.size(), resident_megabytes());
}

void run(const std::string& folder, const std::string& what, const std::vector<std::size_t>& sizes) {
  const auto catalogue = cupti::Catalogue::load(folder);
  const Gpu gpu;
  const auto& library = cupti::Library::open("");
  cupti::initialize_profiler(library);
  const auto host = cupti::Host::create(library, cupti::chip_name(library, 0), cupti::counter_availability(library, gpu.context));
  const auto plan = host.plan(host.resolve(requests_of(catalogue, what)).names);
  std::vector<double> bare;
  for (int i = 0; i < 1000; ++i) bare.push_back(milliseconds([&] { gpu.launch(), gpu.wait(); }));
  fmt::print("{}: {} metrics, {} passes; a bare launch {} ms; {} MB resident\n", what, plan.metrics.size(), plan.passes,
             spread(bare), resident_megabytes());
  for (const std::size_t size : sizes) measure(library, host, gpu, plan, size);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: window_cost <folder of metrics> <set, or metrics with commas between> [most launches]...\n");
    return 2;
  }
  std::vector<std::size_t> sizes;
  for (int i = 3; i < argc; ++i) sizes.push_back(std::max(1UL, std::strtoul(argv[i], nullptr, 10)));
  if (sizes.empty()) sizes = {8, 56, 96, 256};
  return bench::run_program("window_cost", [&] { run(argv[1], argv[2], sizes); });
}
