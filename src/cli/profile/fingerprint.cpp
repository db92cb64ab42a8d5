#include "cli/profile/fingerprint.h"

#include <fmt/format.h>

namespace dlkprof::cli {

Fingerprint& Fingerprint::add(std::string_view word) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : word) value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
  value_ *= kPrime;  // a zero byte, which no word of a command line holds
  return *this;
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", value_); }

}  // namespace dlkprof::cli
