#include "common/failures.h"

#include <cstdlib>
#include <sstream>

namespace fakes {

Failures::Failures(const char* variable) {
  const char* value = std::getenv(variable);
  std::istringstream rules(value != nullptr ? value : "");
  for (std::string text; std::getline(rules, text, ',');) {
    const auto equals = text.find('=');
    const auto at = text.find('@');
    if (equals == std::string::npos) continue;
    Rule rule{.result = text.substr(equals + 1, at == std::string::npos ? at : at - equals - 1)};
    if (at != std::string::npos) {
      rule.from = std::stoul(text.substr(at + 1));
      rule.to = text.back() == '+' ? 0 : rule.from;
    }
    rules_.emplace(text.substr(0, equals), rule);
  }
}

std::optional<std::string> Failures::next(const char* function) {
  if (rules_.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = rules_.equal_range(function);
  if (begin == end) return std::nullopt;
  const unsigned long call = ++calls_[function];
  for (auto rule = begin; rule != end; ++rule) {
    if (call >= rule->second.from && (rule->second.to == 0 || call <= rule->second.to)) return rule->second.result;
  }
  return std::nullopt;
}

}  // namespace fakes
