#include "report/format/markup.h"

#include "base/text.h"

namespace dlkprof::report {

std::string markup_escaped(std::string_view text) {
  std::string out;
  for (const char byte : valid_utf8(text)) {
    switch (byte) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += byte;
    }
  }
  return out;
}

}  // namespace dlkprof::report
