#include "report/format/telling_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kMostRead = 4096;  // characters of template arguments
constexpr std::size_t kMostWords = 8;

struct Short {
  std::string_view name, text;
};
// Data types and layouts, as PyTorch, CUDA and CUTLASS call them.
constexpr std::array kShort{
    Short{"float", "f32"},          Short{"double", "f64"},       Short{"Half", "f16"},           Short{"__half", "f16"},
    Short{"half_t", "f16"},         Short{"half", "f16"},         Short{"BFloat16", "bf16"},      Short{"__nv_bfloat16", "bf16"},
    Short{"bfloat16_t", "bf16"},    Short{"tfloat32_t", "tf32"},  Short{"Float8_e4m3fn", "e4m3"}, Short{"float_e4m3_t", "e4m3"},
    Short{"__nv_fp8_e4m3", "e4m3"}, Short{"Float8_e5m2", "e5m2"}, Short{"float_e5m2_t", "e5m2"},  Short{"__nv_fp8_e5m2", "e5m2"},
    Short{"int8_t", "i8"},          Short{"long", "i64"},         Short{"bool", "bool"},          Short{"RowMajor", "row"},
    Short{"ColumnMajor", "col"},    Short{"TensorNHWC", "nhwc"},  Short{"TensorNCHW", "nchw"}};
// Bases that say nothing: what they are made of does.
constexpr std::array<std::string_view, 6> kWrappers{"Kernel", "Kernel2", "device_kernel", "kernel", "global_kernel", "Kernel3"};
// Words that many functors of different kinds have around them.
constexpr std::array<std::string_view, 6> kAround{"gpu_kernel_impl", "gpu_kernel_impl_nocast",         "func_wrapper_t",
                                                  "ReduceOp",        "opmath_gpu_kernel_with_scalars", "operator"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

template <typename Names>
bool is_one_of(std::string_view word, const Names& names) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

// Goes through the template arguments of a kernel, word by word.
class Arguments {
 public:
  explicit Arguments(std::string_view text) : text_(text.substr(0, kMostRead)) {}

  std::vector<std::string> words() {
    while (at_ < text_.size() && words_.size() < kMostWords) step();
    return std::move(words_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '{') return skip_lambda();
    if (c == '<' || c == '(') ++depth_;
    if (c == '>' || c == ')') --depth_;
    if (!is_word(c)) {
      ++at_;
      return;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    take(text_.substr(begin, at_ - begin));
  }

  // "{lambda(float)#1}": the types it takes are those of the functor around it.
  void skip_lambda() {
    const std::size_t end = text_.find('}', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  void take(std::string_view word) {
    if (is_digit(word.front())) {
      if (depth_ == 1) add(std::string(word.substr(0, word.find_first_not_of("0123456789"))));
      return;
    }
    if (text_.substr(at_, 2) == "::") return;  // a namespace, or a class around it
    if (word == "GemmShape") return take_tile();
    if (word == "tuple" && text_.substr(at_).starts_with("<cute::C<")) return take_tile();
    const auto* const known = std::find_if(kShort.begin(), kShort.end(), [&](const Short& one) { return one.name == word; });
    if (known != kShort.end()) return add(std::string(known->text));
    if (is_telling(word)) add(std::string(word));
  }

  // "<128, 128, 32>", "<cute::C<128>, cute::C<64> >": the first is the tile of a block.
  void take_tile() {
    std::string tile;
    std::size_t open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '<') ++open;
      if (c == '>' && --open == 0) break;
      if (is_digit(c)) {
        const bool begins = !is_word(text_[at_ - 1]);
        if (begins && !tile.empty()) tile += 'x';
        tile += c;
      }
    }
    if (!has_tile_ && !tile.empty()) add(std::move(tile));
    has_tile_ = true;
  }

  // Functors, functions around lambdas, and names that CUTLASS and cuBLAS make.
  [[nodiscard]] bool is_telling(std::string_view word) const {
    if (is_one_of(word, kAround)) return false;
    const auto contains = [&](std::string_view part) { return word.find(part) != std::string_view::npos; };
    const bool is_called = at_ < text_.size() && text_[at_] == '(';
    const bool is_class =
        depth_ == 1 && std::isupper(static_cast<unsigned char>(word.front())) != 0 && !word.starts_with("TensorList");
    const bool is_std = at_ >= word.size() + 5 && text_.substr(at_ - word.size() - 5, 5) == "std::" && word != "array";
    return contains("unctor") || contains("gemm") || contains("conv") || contains("fmha") || contains("Impl") ||
           contains("_kernel") || word.starts_with("cutlass_") || is_called || is_class || is_std;
  }

  void add(std::string word) {
    constexpr std::string_view kKernel = "_kernel_impl";
    if (word.ends_with(kKernel)) word.resize(word.size() - kKernel.size());
    if (std::find(words_.begin(), words_.end(), word) == words_.end()) words_.push_back(std::move(word));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool has_tile_ = false;
  std::vector<std::string> words_;
};

// From its "<" on; "" where the kernel is no template.
std::string_view arguments_of(std::string_view whole, std::string_view base) {
  for (std::size_t at = whole.find(base); at != std::string_view::npos; at = whole.find(base, at + 1)) {
    const std::size_t end = at + base.size();
    if ((at == 0 || !is_word(whole[at - 1])) && end < whole.size() && whole[end] == '<') return whole.substr(end);
    if (at == 0 || !is_word(whole[at - 1])) break;
  }
  return {};
}

// Up to the ">" that closes its first "<".
std::string_view closed(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < std::min(text.size(), kMostRead); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && text[i - 1] != '-' && --depth == 0) return text.substr(0, i + 1);
  }
  return text;
}

// "sm80_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize32x32x64_stage3_warpsize2x2x1_tensor16x8x8_..._execute_kernel__5x_cublas":
// what stands behind the tile of the block follows from it, or is the same in all.
std::string up_to_tile(const std::string& name) {
  constexpr std::string_view kTile = "_tilesize";
  const std::size_t at = name.find(kTile);
  if (at == std::string::npos || name.find("xmma") == std::string::npos) return name;
  const std::size_t tile = at + kTile.size();
  const std::size_t stage = name.find("_stage", tile);
  const std::size_t end = name.find('_', stage == std::string::npos ? tile : stage + 1);
  return name.substr(0, end);
}

}  // namespace

std::string telling_name(std::string_view whole) {
  const std::string base = function_base_name(whole);
  if (base.empty()) return std::string(whole);
  const std::string_view arguments = arguments_of(whole, base);
  if (arguments.empty()) return up_to_tile(base);
  const std::vector<std::string> words = Arguments(closed(arguments)).words();
  std::string name = is_one_of(base, kWrappers) && !words.empty() ? "" : base;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  return name;
}

std::vector<std::string> telling_names(std::span<const std::string* const> wholes) {
  std::map<std::string, std::map<std::string_view, std::size_t>> kernels;  // telling name -> whole name -> number
  std::vector<std::pair<const std::string*, std::size_t>> numbers;         // of each
  for (const std::string* whole : wholes) {
    if (whole == nullptr) {
      numbers.emplace_back(nullptr, 0);
      continue;
    }
    auto& [name, same] = *kernels.try_emplace(telling_name(*whole)).first;
    numbers.emplace_back(&name, same.try_emplace(*whole, same.size() + 1).first->second);
  }
  std::vector<std::string> names;
  for (const auto& [name, number] : numbers) {
    names.emplace_back(name == nullptr ? "" : *name);
    if (name != nullptr && kernels.at(*name).size() > 1) names.back() += fmt::format(" #{}", number);
  }
  return names;
}

}  // namespace dlkprof::report
