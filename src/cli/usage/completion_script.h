// Completion of command lines, made from the definitions of all options.
#pragma once

#include <string>

namespace dlkprof::cli {

// For `shell`, bash, fish or zsh (which takes bash's, by way of its bashcompinit).
[[nodiscard]] std::string completion_script(const std::string& shell);

}  // namespace dlkprof::cli
