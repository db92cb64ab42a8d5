// Evaluates counters that come from a file. NVPerf trusts what it is given: a damaged image, or a range that an image
// does not have, makes it read wild addresses, and no call tells a good image from a bad one. So it runs in a child
// process that can do nothing but compute (confinement.h), and only the child dies. Damage that NVPerf does not stumble over
// gives wrong values: against that a capture has its checksums.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "cupti/host.h"

namespace dlkprof::cupti {

// One child serves all images until one ends it; the next image gets another. Not thread-safe. `host` must outlive it.
class UntrustedEvaluator {
 public:
  explicit UntrustedEvaluator(const Host& host) : host_(host) {}
  UntrustedEvaluator(const UntrustedEvaluator&) = delete;
  UntrustedEvaluator& operator=(const UntrustedEvaluator&) = delete;
  ~UntrustedEvaluator() { stop(); }

  // As Host::evaluate. Throws Error where the image cannot be evaluated; and for every image after kMostFailures of them ended a
  // child, or when all together took much longer than good ones do.
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                             const std::vector<std::string>& metrics);

  static constexpr std::size_t kMostFailures = 16;

 private:
  void start();
  void stop() noexcept;
  [[nodiscard]] std::vector<double> ask(std::span<const std::uint8_t> image, std::size_t range,
                                        const std::vector<std::string>& metrics);
  [[noreturn]] void fail();  // the child has died, or is made to

  const Host& host_;
  pid_t child_ = -1;
  UniqueFd channel_;
  std::size_t images_ = 0, failures_ = 0;
  std::chrono::nanoseconds spent_{0};
};

}  // namespace dlkprof::cupti
