// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace dlkprof::report {

// As text of an element or an attribute. Invalid bytes of UTF-8 are replaced; control characters are the caller's to remove.
[[nodiscard]] std::string markup_escaped(std::string_view text);

}  // namespace dlkprof::report
