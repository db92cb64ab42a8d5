// Evaluates counters that come from a file. NVPerf trusts what it is given: a damaged image, or a range that an image
// does not have, makes it read wild addresses, and no call tells a good image from a bad one. So it runs in a child
// process, and only the child dies. Damage that NVPerf does not stumble over gives wrong values: against that a capture
// has its checksums.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cupti/host.h"

namespace dlkprof::cupti {

// As Host::evaluate. About a millisecond more an image. Throws Error where the image cannot be evaluated.
[[nodiscard]] std::vector<double> evaluate_untrusted(const Host& host, std::span<const std::uint8_t> image, std::size_t range,
                                                     const std::vector<std::string>& metrics);

}  // namespace dlkprof::cupti
