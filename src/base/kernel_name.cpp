// ncu's base "function" of a demangled name, found by one scan that tracks nesting.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace dlkprof {
namespace {

constexpr std::string_view kOperator = "operator";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// Length of an operator's name where one starts at `at`, else 0. Without this `operator<` opens a bracket that
// nothing closes, and `operator()` looks like parameters.
std::size_t operator_length(std::string_view text, std::size_t at) {
  // Longer ones first; those without brackets need no care.
  static constexpr std::array<std::string_view, 13> kSymbols{"<=>", "<<=", ">>=", "->*", "()", "[]", "<<",
                                                             ">>",  "<=",  ">=",  "->",  "<",  ">"};
  if (text.substr(at, kOperator.size()) != kOperator || (at > 0 && is_word(text[at - 1]))) return 0;
  const std::string_view rest = text.substr(at + kOperator.size());
  for (const std::string_view symbol : kSymbols) {
    if (rest.substr(0, symbol.size()) == symbol) return kOperator.size() + symbol.size();
  }
  return 0;
}

// Where the bracket that opens at `at` ends (one past its partner), or the text's end. Angle brackets inside
// parentheses may be comparisons: what closes the parenthesis closes them too.
std::size_t skip_group(std::string_view text, std::size_t at) {
  static constexpr std::string_view kOpen = "<([{";
  static constexpr std::string_view kClose = ">)]}";
  std::string open;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (const std::size_t length = operator_length(text, i); length > 0) {
      i += length - 1;
    } else if (kOpen.find(text[i]) != std::string_view::npos) {
      open += text[i];
    } else if (const std::size_t close = kClose.find(text[i]); close != std::string_view::npos) {
      if (text[i] == '>' && text[i - 1] == '-') continue;  // the arrow of a member access
      while (text[i] != '>' && !open.empty() && open.back() == '<') open.pop_back();
      if (!open.empty() && open.back() == kOpen[close]) open.pop_back();
      if (open.empty()) return i + 1;
    }
  }
  return text.size();
}

// Length of the name of an operator or conversion function at `at`, up to its template arguments or parameters;
// 0 where there is none: "operator()", "operator new[]", "operator float*".
std::size_t operator_name_length(std::string_view text, std::size_t at) {
  if (const std::size_t length = operator_length(text, at); length > 0) return length;
  const std::size_t after = at + kOperator.size();
  if (text.substr(at, kOperator.size()) != kOperator || (at > 0 && is_word(text[at - 1]))) return 0;
  if (after < text.size() && is_word(text[after])) return 0;
  const bool words = text.substr(after, 1) == " ";  // a conversion to a type, new or delete
  std::size_t end = after;
  while (end < text.size() && text[end] != '(' && (words || text[end] != '<')) {
    end = text[end] == '<' ? skip_group(text, end) : end + 1;
  }
  return end - at;
}

// Walks the parts of a name that stand outside every bracket.
class NameScan {
 public:
  explicit NameScan(std::string_view text) : text_(text) {}

  std::string_view base_name() {
    while (at_ < text_.size()) step();
    if (!name_.empty()) return name_;
    return part().empty() ? text_ : part();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (const std::size_t length = operator_name_length(text_, at_); length > 0) {
      at_ += length;
      end_ = at_;
    } else if (c == '(') {
      parameters();
    } else if (c == '<' || c == '[') {
      if (end_ == kOpenEnd) end_ = at_;
      at_ = skip_group(text_, at_);
    } else if (c == '{') {
      at_ = skip_group(text_, at_);
    } else if (text_.substr(at_, 2) == "::") {
      begin_part(at_ + 2);
    } else if (c == ' ' && text_.substr(at_ + 1, 1) == "<") {  // "operator<< <int>" is one name
      if (end_ == kOpenEnd) end_ = at_;
      ++at_;
    } else if (c == ' ') {
      begin_part(at_ + 1);
    } else {
      ++at_;
    }
  }

  // The name before the last parameters wins: those before it belong to enclosing functions.
  void parameters() {
    const std::string_view before = part();
    if (before.empty() && (text_.substr(at_, 2) == "(*" || text_.substr(at_, 2) == "(&")) {
      begin_part(at_ + 2);  // a function that returns a pointer to a function stands inside
      return;
    }
    if (!before.empty() && before != "decltype") name_ = before;
    if (end_ == kOpenEnd) end_ = at_;
    at_ = skip_group(text_, at_);
    if (text_.substr(at_, 2) == "::") name_ = {};
  }

  void begin_part(std::size_t at) {
    at_ = begin_ = at;
    end_ = kOpenEnd;
  }

  [[nodiscard]] std::string_view part() const {
    const std::size_t end = std::min(end_, at_);
    return begin_ < end ? text_.substr(begin_, end - begin_) : std::string_view();
  }

  static constexpr std::size_t kOpenEnd = std::string_view::npos;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;       // of the part being read
  std::size_t end_ = kOpenEnd;  // where its name ended, before template arguments
  std::string_view name_;       // the last name followed by parameters
};

}  // namespace

std::string function_base_name(std::string_view demangled) { return std::string(NameScan(demangled).base_name()); }

}  // namespace dlkprof
