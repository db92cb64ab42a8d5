// What the user is told on stderr.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace dlkprof {

// Writes to stderr in one go. Where it is closed or full nobody can be told, and nothing else is to end for it: neither a pipe
// that nobody reads (SIGPIPE) nor a file at its size limit (SIGXFSZ) ends the process, whatever it does with these signals.
void write_to_stderr(std::string_view text) noexcept;

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stderr(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace dlkprof
