// A framework's message is hostile input: whatever its bytes, parsing it must neither crash nor hang, and what comes of it
// must be fit to be shown. The first byte of the input picks the domain.
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "model/fold/fold.h"
#include "model/markers/marker.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

constexpr std::array<std::string_view, 8> kDomains{"",         "dlkprof",     "TSL",       "tensorflow-core",
                                                   "TensorRT", "myelin-exec", "DeepSpeed", "another"};

void require(bool holds) {
  if (!holds) std::abort();
}

void require_fit_to_show(const std::string& text, std::size_t max_bytes) {
  require(text.size() <= max_bytes);
  require(printable(text, max_bytes) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view message(reinterpret_cast<const char*>(data + 1), size - 1);
  const model::Marker marker = model::parse_marker(kDomains.at(data[0] % kDomains.size()), message);
  require(!marker.name.empty() && !marker.type.empty());
  require_fit_to_show(marker.name, model::kMaxMarkerName);
  require_fit_to_show(marker.type, model::kMaxMarkerName);
  require_fit_to_show(marker.shapes, model::kMaxMarkerShapes);
  require_fit_to_show(marker.data_types, model::kMaxMarkerShapes);
  require(marker.kind != model::MarkerKind::backward || marker.sequence.has_value());
  (void)model::key_node_rank(marker);
  (void)model::tensor_core_eligible(marker.type, marker.data_types);
  (void)model::tensor_core_name(message);
  return 0;
}
