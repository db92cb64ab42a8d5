// What stands in for CUPTI and the driver in a build without the CUDA Toolkit (DLKPROF_PROFILER=OFF): whoever asks for them is
// told that they are not there.
#include "base/error.h"
#include "cupti/host.h"
#include "cupti/machine.h"

namespace dlkprof::cupti {
namespace {

[[noreturn]] void refuse() {
  throw Error("this dlkprof was built without the CUDA Toolkit",
              "it reads captures and databases, and can neither profile nor ask CUPTI for metrics",
              "Build dlkprof where the CUDA Toolkit is, without -DDLKPROF_PROFILER=OFF.");
}

}  // namespace

bool has_profiler() noexcept { return false; }
void require_profiler() { refuse(); }
std::string built_with() { return "built without the CUDA Toolkit"; }
const Library& open_library(const std::filesystem::path& /*asked*/) { refuse(); }
std::string words_of(const Library& /*library*/) { refuse(); }
FoundDriver find_driver() { refuse(); }
std::string chip_of_device(std::size_t /*ordinal*/, const std::filesystem::path& /*cupti_path*/) { refuse(); }

// There is no Library here, hence no Host: what follows is only ever linked.
Host Host::create(const Library& /*library*/, const std::string& /*chip*/, std::vector<std::uint8_t> /*availability*/,
                  CollectBy /*by*/) {
  refuse();
}
std::vector<std::string> Host::chips(const Library& /*library*/) { refuse(); }
std::vector<std::string> Host::base_metrics(MetricType /*type*/) const { refuse(); }
std::vector<std::string> Host::submetrics(const std::string& /*base*/, MetricType /*type*/) const { refuse(); }
MetricProperties Host::properties(const std::string& /*metric*/) const { refuse(); }
bool Host::offers(const std::string& /*metric*/) const { refuse(); }
ResolvedMetrics Host::resolve(const std::vector<capture::MetricRequest>& /*requests*/) const { refuse(); }
CollectionPlan Host::plan(const std::vector<std::string>& /*metrics*/) const { refuse(); }
bool Host::can_sum(const CollectionPlan& /*plan*/) const { refuse(); }
void Host::evaluate(std::span<const std::uint8_t> /*image*/, std::size_t /*range*/, std::span<const char* const> /*metrics*/,
                    std::span<double> /*values*/) const {
  refuse();
}
void Host::Deinitialize::operator()(CUpti_Profiler_Host_Object* /*object*/) const noexcept {}

}  // namespace dlkprof::cupti
