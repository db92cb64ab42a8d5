// What the user is told on stderr.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace dlkprof {

// Where stderr is closed or full nobody can be told, and nothing else is to end for it.
template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace dlkprof
