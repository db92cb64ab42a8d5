// Which metrics need each instance of their counters: those that are no number where images hold sums alone
// (cupti/counter_images.h). Measures a kernel with every metric of this machine's chip that counts or divides, in batches, with
// and without instances.
//   instance_needs
// Prints those that only instances make a number of, and those whose figures differ by more than half although the kernel does
// the same, which is to be looked into: what caches and clocks do differs from run to run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "cupti/counter_images.h"
#include "cupti/host.h"
#include "cupti/profiling_session.h"
#include "cupti/range_profiler.h"
#include "gpu.h"
#include "program.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using cupti::CollectionPlan;
using cupti::CounterImages;

constexpr std::size_t kBatch = 48, kLaunches = 2;

class Measurement {
 public:
  Measurement(const cupti::Library& library, const cupti::Host& host, const bench::Gpu& gpu)
      : library_(library), host_(host), gpu_(gpu) {}

  // Halves what cannot be measured together.
  void compare(std::vector<std::string> metrics) {
    try {
      const CollectionPlan plan = host_.plan(metrics);
      const auto counters = cupti::raw_counters(cupti::NvPerf::open(library_), plan);
      const auto with = values(plan, counters, {counters.begin(), counters.end()});
      const auto without = values(plan, counters, {});
      for (std::size_t i = 0; i < metrics.size(); ++i) judge(metrics[i], with[i], without[i]);
    } catch (const Error& error) {
      if (metrics.size() == 1) return fmt::print("not measured: {}: {}\n", metrics.front(), error.what());
      const auto middle = metrics.begin() + static_cast<std::ptrdiff_t>(metrics.size() / 2);
      compare({metrics.begin(), middle});
      compare({middle, metrics.end()});
    }
  }
  void summarize() const { fmt::print("{} metrics compared, {} of them no number in either way\n", compared_, neither_); }

 private:
  std::vector<double> values(const CollectionPlan& plan, const std::vector<std::string>& counters,
                             const std::set<std::string>& instances) {
    auto image = CounterImages(library_, host_.chip(), counters, instances).empty(kLaunches);
    cupti::ProfilingSession session(library_, gpu_.context, image, kLaunches);
    for (std::size_t pass = 0; pass < plan.passes; ++pass) {
      session.begin(plan, pass);
      for (std::size_t i = 0; i < kLaunches; ++i) session.enable(), gpu_.launch(), session.disable(), gpu_.wait();
      session.end(kLaunches);
    }
    return host_.evaluate(image, kLaunches - 1, plan.metrics);
  }
  void judge(const std::string& metric, double with, double without) {
    ++compared_;
    if (!std::isfinite(with) && !std::isfinite(without)) ++neither_;
    if (std::isfinite(with) && !std::isfinite(without)) fmt::print("needs instances: {} ({})\n", metric, with);
    if (std::isfinite(with) && std::isfinite(without) &&
        std::abs(with - without) > 0.5 * std::max(std::abs(with), std::abs(without))) {
      fmt::print("differs: {}: {} with instances, {} without\n", metric, with, without);
    }
  }

  const cupti::Library& library_;
  const cupti::Host& host_;
  const bench::Gpu& gpu_;
  std::size_t compared_ = 0, neither_ = 0;
};

// One form of each is enough: all forms of a metric come of the same counters, but for the smallest and largest instance, which
// need instances by what they are.
std::vector<std::string> all_metrics(const cupti::Host& host) {
  std::vector<std::string> all;
  for (const auto& [type, form] : {std::pair{cupti::MetricType::counter, ".sum"},
                                   {cupti::MetricType::ratio, ".ratio"},
                                   {cupti::MetricType::ratio, ".pct"}}) {
    for (const std::string& base : host.base_metrics(type)) {
      if (base.find("sass") == base.npos && host.offers(base + form)) all.push_back(base + form);
    }
  }
  return all;
}

void run() {
  const bench::Gpu gpu;
  const auto& library = cupti::Library::open("");
  cupti::initialize_profiler(library);
  const auto host = cupti::Host::create(library, cupti::chip_name(library, 0), cupti::counter_availability(library, gpu.context));
  const auto metrics = all_metrics(host);
  fmt::print("{}: {} metrics\n", host.chip(), metrics.size());
  Measurement measurement(library, host, gpu);
  for (std::size_t begin = 0; begin < metrics.size(); begin += kBatch) {
    const auto from = metrics.begin() + static_cast<std::ptrdiff_t>(begin);
    measurement.compare({from, from + static_cast<std::ptrdiff_t>(std::min(kBatch, metrics.size() - begin))});
  }
  measurement.summarize();
}

}  // namespace

int main() { return bench::run_program("instance_needs", run); }
