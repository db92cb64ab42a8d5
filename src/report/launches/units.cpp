#include "report/launches/reports.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "cupti/host.h"
#include "cupti/machine.h"

namespace dlkprof::report {
namespace {

// NVPerf, opened when it is first asked.
class HostUnits {
 public:
  HostUnits(std::string chip, std::filesystem::path cupti_path) : chip_(std::move(chip)), path_(std::move(cupti_path)) {}

  std::string unit(const std::string& metric) {
    try {
      if (!std::exchange(tried_, true)) host_ = cupti::Host::create(cupti::open_library(path_), chip_);
      return host_ ? host_->properties(metric).unit : "";
    } catch (const Error&) {
      return "";  // no CUPTI, or a metric this chip does not have: the unit is not known
    }
  }

 private:
  std::string chip_;
  std::filesystem::path path_;
  bool tried_ = false;
  std::optional<cupti::Host> host_;
};

}  // namespace

UnitLookup unit_lookup(const cupti::Catalogue& catalogue, const model::Timeline& timeline,
                       const std::filesystem::path& cupti_path) {
  std::map<std::string, std::string> units;
  for (const cupti::Section& section : catalogue.sections()) {
    for (const cupti::SectionRow& row : section.rows) {
      for (const std::string& metric : row.metrics) units.emplace(metric, row.unit);
    }
  }
  const std::string chip = timeline.devices.empty() ? "" : timeline.devices.front().record.chip;
  auto host = std::make_shared<HostUnits>(chip, cupti_path);
  return [units = std::move(units), host](const std::string& metric) {
    const auto found = units.find(metric);
    return found != units.end() ? found->second : host->unit(metric);
  };
}

}  // namespace dlkprof::report
