#include "inject/timeline/nvtx_module.h"

namespace dlkprof::inject {
namespace {

constexpr char32_t kReplacement = 0xfffd;

void put_utf8(std::string& out, char32_t character) {
  const auto put = [&](char32_t lead, unsigned continuing) {
    out += static_cast<char>(lead | (character >> (6 * continuing)));
    while (continuing-- > 0) out += static_cast<char>(0x80U | ((character >> (6 * continuing)) & 0x3fU));
  };
  if (character < 0x80) {
    put(0, 0);
  } else if (character < 0x800) {
    put(0xc0, 1);
  } else if (character < 0x10000) {
    put(0xe0, 2);
  } else {
    put(0xf0, 3);
  }
}

}  // namespace

std::string to_utf8(const wchar_t* text, std::size_t limit) {
  std::string out;
  for (; text != nullptr && *text != L'\0' && out.size() < limit; ++text) {
    const auto character = static_cast<char32_t>(*text);
    const bool is_surrogate = character >= 0xd800 && character < 0xe000;
    put_utf8(out, is_surrogate || character > 0x10ffff ? kReplacement : character);
  }
  return out;
}

}  // namespace dlkprof::inject
