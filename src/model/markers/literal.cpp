#include "model/markers/literal.h"

#include <algorithm>

namespace dlkprof::model {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
// What ends a word. Signs and dots belong to words, as in -1.5e-3, torch.float16 and Node<3>.
constexpr std::string_view kDelimiters = " \t\r\n,:=()[]{}'\"";

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  // False where the text is malformed or ends early: `out` then has what came before.
  bool value(Literal& out, std::size_t depth) {
    skip_space();
    if (at_end() || depth > kMaxLiteralDepth || ++items_ > kMaxLiteralItems) return false;
    const char c = text_[at_];
    if (c == '{') return dict(out, depth);
    if (c == '[' || c == '(') return list(out, depth);
    if (c == '\'' || c == '"') return quoted(out);
    return word(out, depth);
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  bool take(char c) {
    skip_space();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // 12, None, torch.float16, and calls: torch.Size([4, 3]), device(type='cuda').
  bool word(Literal& out, std::size_t depth) {
    const std::size_t end = std::min(text_.find_first_of(kDelimiters, at_), text_.size());
    if (end == at_) return false;
    out.kind = Literal::Kind::word;
    out.text = text_.substr(at_, end - at_);
    at_ = end;
    return at_end() || text_[at_] != '(' || call(out, depth);
  }

  bool call(Literal& out, std::size_t depth) {
    const bool whole = list(out, depth);
    if (out.items.size() == 1 && out.items[0].kind == Literal::Kind::list) {
      Literal only = std::move(out.items[0]);
      out = std::move(only);
    }
    return whole;
  }

  bool list(Literal& out, std::size_t depth) {
    out.kind = Literal::Kind::list;
    const char end = closing(text_[at_++]);
    while (!take(end)) {
      out.items.emplace_back();
      if (!argument(out.items.back(), depth + 1)) return drop_empty_item(out);
      if (!take(',') && !ends_with(end)) return false;
    }
    return true;
  }

  // A value, or that of "name=value".
  bool argument(Literal& out, std::size_t depth) {
    if (!value(out, depth)) return false;
    if (!take('=')) return true;
    out = {};
    return value(out, depth);
  }

  // Sets are not read: no framework writes one.
  bool dict(Literal& out, std::size_t depth) {
    out.kind = Literal::Kind::dict;
    ++at_;
    while (!take('}')) {
      Literal key;
      if (!value(key, depth + 1) || !take(':')) return false;
      out.keys.push_back(std::move(key.text));
      if (!value(out.items.emplace_back(), depth + 1)) return false;
      if (!take(',') && !ends_with('}')) return false;
    }
    return true;
  }

  bool quoted(Literal& out) {
    const char quote = text_[at_++];
    std::string read;
    while (!at_end() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        escape(read);
      } else {
        read += text_[at_++];
      }
    }
    if (at_end()) return false;
    ++at_;
    out.kind = Literal::Kind::text;
    out.text = std::move(read);
    return true;
  }

  // Escapes of what can be shown are undone, others are kept as they are written.
  void escape(std::string& read) {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\\';
    const bool shown = c == '\\' || c == '/' || c == '\'' || c == '"';
    if (!shown) read += '\\';
    read += c;
    at_ += 2;
  }

  [[nodiscard]] bool ends_with(char end) {
    skip_space();
    return !at_end() && text_[at_] == end;
  }

  static bool drop_empty_item(Literal& out) {
    if (out.items.back().kind == Literal::Kind::nothing) out.items.pop_back();
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t items_ = 0;
};

void append_list(std::string& out, const Literal& literal) {
  if (literal.kind == Literal::Kind::word) out += literal.text;
  if (literal.kind != Literal::Kind::list) return;
  out += '[';
  bool first = true;
  for (const Literal& item : literal.items) {
    if (item.kind != Literal::Kind::word && item.kind != Literal::Kind::list) continue;
    if (!first) out += ", ";
    first = false;
    append_list(out, item);
  }
  out += ']';
}

}  // namespace

const Literal* Literal::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  const auto index = static_cast<std::size_t>(found - keys.begin());
  return index < std::min(keys.size(), items.size()) ? &items[index] : nullptr;  // a cut one may lack its last value
}

std::string_view Literal::text_of(std::string_view key) const {
  const Literal* value = find(key);
  return value == nullptr ? std::string_view() : value->text;
}

Literal parse_literal(std::string_view text) {
  Literal literal;
  (void)LiteralParser(text).value(literal, 0);
  return literal;
}

std::string list_text(const Literal& literal) {
  std::string out;
  append_list(out, literal);
  return out;
}

}  // namespace dlkprof::model
