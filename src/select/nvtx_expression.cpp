#include "select/nvtx_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/error.h"
#include "select/option_text.h"

namespace dlkprof::select {
namespace {

constexpr std::string_view kSpecial = "@,[]/*+";
constexpr std::string_view kPattern = "regex:";
constexpr const char* kRemedy =
    "Write forward/ for a range that is pushed and popped, forward for one that is started and ended, net@forward/ for one of a "
    "domain; a backslash before @ , [ ] / * or + takes it for itself.";

// A character and whether it may have a meaning of its own.
struct Token {
  char character = 0;
  bool special = false;
  std::size_t at = 0;  // in the value
};
using Tokens = std::span<const Token>;

std::vector<Token> tokens_of(std::string_view value) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool escapes = value[at] == '\\' && at + 1 < value.size() && kSpecial.find(value[at + 1]) != kSpecial.npos;
    if (escapes) ++at;
    tokens.push_back({value[at], !escapes && kSpecial.find(value[at]) != kSpecial.npos, at});
  }
  return tokens;
}

class Parser {
 public:
  Parser(std::string_view option, std::string_view value) : option_(option), value_(value) {}

  [[nodiscard]] NvtxExpression parse() const {
    const std::vector<Token> tokens = tokens_of(value_);
    Tokens rest = tokens;
    NvtxExpression expression;
    if (const auto at = find(rest, '@')) {
      expression.domain = name_of(rest.first(*at), *at < rest.size() ? rest[*at].at : 0, "domain");
      rest = rest.subspan(*at + 1);
      if (const auto again = find(rest, '@')) fail("there is one domain before all ranges", rest[*again].at);
    }
    expression.from_bottom = is(rest, 0, '[');
    if (expression.from_bottom) rest = rest.subspan(1);
    expression.to_top = !rest.empty() && is(rest, rest.size() - 1, ']');
    if (expression.to_top) rest = rest.first(rest.size() - 1);
    expression.push_pop = expression.from_bottom || expression.to_top || find(rest, '/');
    add_items(rest, expression);
    return expression;
  }

 private:
  static bool is(Tokens tokens, std::size_t at, char character) {
    return at < tokens.size() && tokens[at].special && tokens[at].character == character;
  }
  static std::optional<std::size_t> find(Tokens tokens, char character) {
    const auto found =
        std::ranges::find_if(tokens, [&](const Token& token) { return token.special && token.character == character; });
    if (found == tokens.end()) return std::nullopt;
    return static_cast<std::size_t>(found - tokens.begin());
  }

  void add_items(Tokens rest, NvtxExpression& expression) const {
    const char delimiter = expression.push_pop ? '/' : ',';
    if (const auto other = find(rest, ','); expression.push_pop && other) {
      fail("a comma joins ranges that are started and ended, a slash those that are pushed and popped", rest[*other].at);
    }
    if (expression.push_pop && is(rest, rest.size() - 1, '/'))
      rest = rest.first(rest.size() - 1);  // one at the end says only that
    for (;;) {
      const auto end = find(rest, delimiter);
      expression.items.push_back(item_of(rest.first(end.value_or(rest.size())), expression.push_pop, position(rest)));
      if (!end) return;
      rest = rest.subspan(*end + 1);
    }
  }

  [[nodiscard]] NvtxItem item_of(Tokens tokens, bool push_pop, std::size_t at) const {
    if (push_pop && tokens.size() == 1 && is(tokens, 0, '+')) return {.kind = NvtxItem::Kind::one, .name = {}};
    if (push_pop && tokens.size() == 1 && is(tokens, 0, '*')) return {.kind = NvtxItem::Kind::any, .name = {}};
    return {.kind = NvtxItem::Kind::name, .name = name_of(tokens, at, "range")};
  }

  [[nodiscard]] NvtxName name_of(Tokens tokens, std::size_t at, std::string_view what) const {
    NvtxName name;
    for (const Token& token : tokens) name.text += token.character;
    name.is_pattern = name.text.starts_with(kPattern);
    if (name.is_pattern) name.text.erase(0, kPattern.size());
    if (name.text.empty()) fail(fmt::format("there is no name of a {}", what), at);
    return name;
  }

  [[nodiscard]] std::size_t position(Tokens rest) const { return rest.empty() ? value_.size() : rest.front().at; }

  [[noreturn]] void fail(const std::string& what, std::size_t at) const {
    throw UsageError(fmt::format("{} cannot be read", option_), fmt::format("{}\n{}", what, point_at(value_, at)), kRemedy);
  }

  std::string_view option_, value_;
};

}  // namespace

std::string escape_nvtx(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (kSpecial.find(character) != kSpecial.npos) escaped += '\\';
    escaped += character;
  }
  return escaped;
}

NvtxExpression parse_nvtx(std::string_view option, std::string_view value) { return Parser(option, value).parse(); }

}  // namespace dlkprof::select
