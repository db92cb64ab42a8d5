#include "model/sass/sass_text.h"

#include <charconv>
#include <optional>

#include "base/text.h"
#include "model/timeline/pc_samples.h"

namespace dlkprof::model {
namespace {

// What a function has at most: the largest of cuBLAS have some 20,000.
constexpr std::size_t kMostInstructionsOfASection = 1'000'000;
constexpr std::size_t kLongestInstruction = 200;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaceOfLine = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpaceOfLine);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaceOfLine) - first + 1);
}

// What stands between two marks; "" where they are not there.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + before.size());
  const std::size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

template <typename Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

class SassReader {
 public:
  void line(std::string_view text);
  [[nodiscard]] std::map<std::string, SassSection> finish() && { return std::move(sections_); }

 private:
  void section(std::string_view text);
  void source(std::string_view text);
  void instruction(std::string_view text);
  void label(std::string_view text);

  std::map<std::string, SassSection> sections_;
  SassSection* in_ = nullptr;
  std::vector<std::string> labels_;  // that stand before the next instruction
  std::string file_;
  std::uint32_t line_ = 0;
};

void SassReader::section(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(','));
  in_ = name.starts_with(".text.") ? &sections_[std::string(name)] : nullptr;
  labels_.clear();
  file_.clear();
  line_ = 0;
}

// //## File "/src/a.cu", line 12 inlined at "/src/b.cu", line 3
void SassReader::source(std::string_view text) {
  file_ = valid_utf8(between(text, "\"", "\""));
  line_ = number_in<std::uint32_t>(trimmed(text.substr(std::min(text.find("line ") + 5, text.size()))), 10).value_or(0);
}

//         /*0070*/               @P0 EXIT ;
void SassReader::instruction(std::string_view text) {
  const auto offset = number_in<std::uint64_t>(between(text, "/*", "*/"), 16);
  if (!offset) return;
  const std::string_view rest = text.substr(text.find("*/") + 2);
  const std::string_view words = trimmed(rest.substr(0, rest.rfind(';')));
  std::vector<SassInstruction>& all = in_->instructions;
  const bool in_order = *offset < kMostPcSamples && (all.empty() || *offset > all.back().offset);
  if (!in_order || words.empty() || all.size() >= kMostInstructionsOfASection) return;
  for (std::string& label : labels_) in_->labels.emplace(std::move(label), *offset);
  labels_.clear();
  all.push_back({.offset = *offset, .text = printable(words, kLongestInstruction), .file = file_, .line = line_});
}

// .L_x_0:
void SassReader::label(std::string_view text) {
  if (text.ends_with(':') && text.find_first_of(" \t\"") == std::string_view::npos)
    labels_.emplace_back(text.substr(0, text.size() - 1));
}

void SassReader::line(std::string_view text) {
  constexpr std::string_view kSassSection = ".section", kSassSource = "//## File", kSassOffset = "/*";
  const std::string_view words = trimmed(text);
  const std::string_view directive =
      words.substr(0, words.find_first_of(" \t"));  // there are .sectionflags and .sectioninfo as well
  if (directive == kSassSection) return section(trimmed(words.substr(kSassSection.size())));
  if (in_ == nullptr || words.empty()) return;
  if (words.starts_with(kSassSource)) return source(words);
  if (words.starts_with(kSassOffset)) {
    if (words.find(';') != std::string_view::npos) instruction(words);  // else the encoding alone
    return;
  }
  if (text.front() != ' ' && text.front() != '\t') label(words);
}

}  // namespace

std::map<std::string, SassSection> read_sass(std::string_view text) {
  SassReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(reader).finish();
}

}  // namespace dlkprof::model
