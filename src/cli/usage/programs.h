// Whether a word names a program.
#pragma once

#include <string>

namespace dlkprof::cli {

// As execvp() finds it: a path is taken as it is, whatever is there; a plain name is looked for in PATH.
[[nodiscard]] bool is_program(const std::string& word);

}  // namespace dlkprof::cli
