#include "cli/usage/programs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace dlkprof::cli {

bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return true;
  const char* path = std::getenv("PATH");
  const std::vector<std::string> folders = split(path == nullptr ? "/bin:/usr/bin" : path, ':');
  return !word.empty() && std::any_of(folders.begin(), folders.end(), [&word](const std::string& folder) {
    const std::filesystem::path file = std::filesystem::path(folder.empty() ? "." : folder) / word;
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
  });
}

}  // namespace dlkprof::cli
