// What many values of one kind come to, so that it can be merged in any order with the same result: sums are exact, whole numbers
// of 128 bits, which stop at their greatest instead of overflowing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace dlkprof::job {

__extension__ using Wide = unsigned __int128;

// Adding numbers that are not negative up to a ceiling does not depend on their order.
[[nodiscard]] inline Wide add_up(Wide a, Wide b) { return a > ~Wide{0} - b ? ~Wide{0} : a + b; }

// Of values from 0 on, such as nanoseconds an iteration.
struct Distribution {
  // Bin k counts values of k significant bits: 0, 1, 2 to 3, 4 to 7, and so on.
  static constexpr std::size_t kBins = 65;

  std::uint64_t n = 0;
  Wide sum = 0, squares = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;
  std::array<std::uint64_t, kBins> histogram{};

  void add(std::uint64_t value);
  void merge(const Distribution& other);
  [[nodiscard]] double mean() const { return n == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(n); }
  // Of the sample; 0 of one value.
  [[nodiscard]] double deviation() const;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

inline void Distribution::add(std::uint64_t value) {
  ++n;
  sum = add_up(sum, value);
  squares = add_up(squares, Wide{value} * value);
  least = value < least ? value : least;
  most = value > most ? value : most;
  ++histogram[static_cast<std::size_t>(std::bit_width(value))];
}

// As the job database keeps them: decimal digits; "<bin>:<count>" with blanks between.
[[nodiscard]] std::string wide_text(Wide value);
[[nodiscard]] std::string histogram_text(const Distribution& values);
// Both throw std::invalid_argument where it is no such text.
[[nodiscard]] Wide wide_of(std::string_view text);
void read_histogram(std::string_view text, Distribution& values);

}  // namespace dlkprof::job
