#include "job/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/text.h"

namespace dlkprof::job {
namespace {

std::uint64_t number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw std::invalid_argument("no number");
  return value;
}

}  // namespace

void Distribution::merge(const Distribution& other) {
  n += other.n;
  sum = add_up(sum, other.sum);
  squares = add_up(squares, other.squares);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
  for (std::size_t bin = 0; bin < kBins; ++bin) histogram[bin] += other.histogram[bin];
}

double Distribution::deviation() const {
  if (n < 2) return 0;
  const auto count = static_cast<double>(n);
  // Exact while it fits, as the difference of two large numbers is all that is left.
  const Wide square = sum <= ~std::uint64_t{0} ? sum * sum : 0;
  const Wide scaled = squares <= ~Wide{0} / n ? squares * n : 0;
  const bool exact = square != 0 && scaled >= square;
  const double spread =
      exact ? static_cast<double>(scaled - square) / count : static_cast<double>(squares) - static_cast<double>(sum) * mean();
  return std::sqrt(std::max(0.0, spread) / (count - 1));
}

std::string wide_text(Wide value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Wide wide_of(std::string_view text) {
  constexpr std::size_t kMostDigits = 39;  // of 2^128
  if (text.empty() || text.size() > kMostDigits) throw std::invalid_argument("no number");
  Wide value = 0;
  for (const char digit : text) {
    const auto next = static_cast<unsigned>(digit - '0');
    if (next > 9 || value > (~Wide{0} - next) / 10) throw std::invalid_argument("no number");
    value = value * 10 + next;
  }
  return value;
}

std::string histogram_text(const Distribution& values) {
  std::string text;
  for (std::size_t bin = 0; bin < Distribution::kBins; ++bin) {
    if (values.histogram[bin] != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : " ", bin, values.histogram[bin]);
  }
  return text;
}

void read_histogram(std::string_view text, Distribution& values) {
  values.histogram.fill(0);
  if (text.empty()) return;
  for (const std::string& part : split(text, ' ')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) throw std::invalid_argument("no bin");
    const std::uint64_t bin = number_in(std::string_view(part).substr(0, colon));
    if (bin >= Distribution::kBins) throw std::invalid_argument("no such bin");
    values.histogram[bin] = number_in(std::string_view(part).substr(colon + 1));
  }
}

}  // namespace dlkprof::job
