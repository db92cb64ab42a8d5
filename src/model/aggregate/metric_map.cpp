#include "model/aggregate/metric_map.h"

#include <mutex>
#include <set>

namespace dlkprof::model {

MetricName::MetricName(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  const auto known = names.find(name);
  text_ = known != names.end() ? &*known : &*names.emplace(name).first;
}

}  // namespace dlkprof::model
