// Tells words from other words in 16 digits, where they themselves are too long or too strange to be kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dlkprof::cli {

// FNV-1a of 64 bits over the words, each with its end. Against chance, not against somebody who looks for two that are alike.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view word);
  [[nodiscard]] std::string text() const;  // 16 hexadecimal digits

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace dlkprof::cli
