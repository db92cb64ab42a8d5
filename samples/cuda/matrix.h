// Square matrices of small whole numbers. Their products are exact in fp32 (and their elements in fp16), whatever the
// order of the additions, so that a GPU's product can be compared with the CPU's bit by bit.
#pragma once

#include <vector>

#include "sample.h"

namespace sample {

// Row-major, size x size, elements from -4 to 4.
[[nodiscard]] inline std::vector<float> whole_number_matrix(unsigned size, std::uint32_t seed) {
  std::vector<float> matrix(std::size_t{size} * size);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = static_cast<float>(static_cast<int>(mixed(static_cast<std::uint32_t>(i) + seed) % 9) - 4);
  return matrix;
}

// a * b on the CPU, row by row, so that the inner loop runs along memory.
[[nodiscard]] inline std::vector<float> multiply(const std::vector<float>& a, const std::vector<float>& b, unsigned size) {
  std::vector<float> c(a.size(), 0.0F);
  for (unsigned row = 0; row < size; ++row) {
    float* out = &c[std::size_t{row} * size];
    for (unsigned k = 0; k < size; ++k) {
      const float factor = a[std::size_t{row} * size + k];
      const float* in = &b[std::size_t{k} * size];
      for (unsigned column = 0; column < size; ++column) out[column] += factor * in[column];
    }
  }
  return c;
}

}  // namespace sample
