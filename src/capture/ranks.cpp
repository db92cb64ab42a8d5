#include "capture/ranks.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::capture {
namespace {

constexpr std::string_view kOfSlurm = "SLURM_PROCID";
constexpr const char* kRankVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

Ranks Ranks::parse(const std::string& text) {
  Ranks ranks;
  for (const std::string& part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = number(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(std::string_view(part).substr(dash + 1));
    if (!first || !last || *first > *last) {
      throw Error("--ranks: " + printable(part, 80) + " is neither a rank nor a range of them", "", "Example: --ranks 0,8-15");
    }
    ranks.ranges_.emplace_back(*first, *last);
  }
  return ranks;
}

bool Ranks::contains(std::uint32_t rank) const noexcept {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [rank](const auto& range) { return rank >= range.first && rank <= range.second; });
}

std::optional<std::uint32_t> rank_of_process() {
  for (const char* variable : kRankVariables) {
    const char* text = std::getenv(variable);
    if (text == nullptr || (variable == kOfSlurm && std::getenv("SLURM_STEP_ID") == nullptr)) continue;
    if (const auto rank = number(text)) return rank;
  }
  return std::nullopt;
}

bool is_of_another_rank(const std::string& ranks) {
  if (ranks.empty()) return false;
  const auto rank = rank_of_process();
  return rank && !Ranks::parse(ranks).contains(*rank);
}

}  // namespace dlkprof::capture
