#include "advise/tensor_sizes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

namespace dlkprof::advise {
namespace {

using Type = std::pair<std::string_view, std::uint64_t>;
// As PyTorch, TensorFlow, XLA and TensorRT write them, in lower case and without what stands before a dot or colon.
constexpr auto kTypes = std::to_array<Type>(
    {{"float64", 8},     {"double", 8},   {"f64", 8},    {"int64", 8},     {"long", 8},        {"s64", 8},   {"i64", 8},
     {"uint64", 8},      {"u64", 8},      {"float", 4},  {"float32", 4},   {"fp32", 4},        {"f32", 4},   {"tf32", 4},
     {"int", 4},         {"int32", 4},    {"s32", 4},    {"i32", 4},       {"uint32", 4},      {"u32", 4},   {"half", 2},
     {"float16", 2},     {"fp16", 2},     {"f16", 2},    {"bfloat16", 2},  {"bf16", 2},        {"int16", 2}, {"short", 2},
     {"s16", 2},         {"i16", 2},      {"uint16", 2}, {"u16", 2},       {"int8", 1},        {"char", 1},  {"s8", 1},
     {"i8", 1},          {"uint8", 1},    {"byte", 1},   {"u8", 1},        {"bool", 1},        {"pred", 1},  {"float8_e4m3fn", 1},
     {"float8_e5m2", 1}, {"f8e4m3fn", 1}, {"f8e5m2", 1}, {"complex64", 8}, {"complex128", 16}, {"c64", 8},   {"c128", 16}});

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':'; }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_word);
    const auto end = std::find_if_not(begin, text.end(), is_word);
    if (begin == end) break;
    const auto from = static_cast<std::size_t>(begin - text.begin());
    at = static_cast<std::size_t>(end - text.begin());
    words.push_back(text.substr(from, at - from));
  }
  return words;
}

// Reads the lists from left to right; a list that holds no list is a shape.
class ShapeReader {
 public:
  std::vector<Shape> read(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && good_; ++i) {
      const char c = text[i];
      if (c == '[' || c == '(') {
        ++depth_;
        shape_ = Shape();
        innermost_ = true;
      } else if (c == ']' || c == ')') {
        close();
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        i = add_number(text, i);
      } else if (c != ' ' && c != ',') {
        good_ = false;
      }
    }
    return good_ && depth_ == 0 ? std::move(shapes_) : std::vector<Shape>();
  }

 private:
  void close() {
    good_ = depth_ > 0;
    if (innermost_ && depth_ > 1) shapes_.push_back(shape_);
    innermost_ = false;
    --depth_;
  }
  std::size_t add_number(std::string_view text, std::size_t at) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    good_ = error == std::errc() && innermost_;
    shape_.push_back(value);
    return static_cast<std::size_t>(end - text.data()) - 1;
  }

  std::vector<Shape> shapes_;
  Shape shape_;
  int depth_ = 0;
  bool innermost_ = false, good_ = true;
};

double elements(const Shape& shape) {
  if (shape.empty()) return 0;  // no tensor: markers have an empty list for numbers and missing arguments
  double product = 1;
  for (const std::uint64_t extent : shape) product *= static_cast<double>(extent);
  return product;
}

}  // namespace

std::vector<Shape> parse_shapes(std::string_view text) { return ShapeReader().read(text); }

std::optional<std::uint64_t> element_bytes(std::string_view type) {
  const std::size_t before = type.find_last_of(".:");
  std::string name(before == std::string_view::npos ? type : type.substr(before + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&name](const Type& one) { return one.first == name; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> input_bytes(const model::Op& op) {
  const std::vector<Shape> shapes = parse_shapes(op.input_shapes);
  const std::vector<std::string_view> types = words_of(op.data_types);
  if (shapes.empty() || types.empty() || (types.size() != 1 && types.size() != shapes.size())) return std::nullopt;
  double bytes = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].empty()) continue;
    const auto size = element_bytes(types.size() == 1 ? types.front() : types[i]);
    if (!size) return std::nullopt;
    bytes += elements(shapes[i]) * static_cast<double>(*size);
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace dlkprof::advise
