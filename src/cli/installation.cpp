#include "cli/installation.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cupti/machine.h"

namespace dlkprof::cli {

std::filesystem::path share_folder() { return install_root() / "share" / "dlkprof"; }

cupti::Catalogue load_catalogue() {
  const std::filesystem::path folder = share_folder() / "metrics";
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) {
    throw Error("the list of metrics is missing", "there is no " + printable(folder.native()),
                "Keep bin/, lib/ and share/ of the installation together.");
  }
  return cupti::Catalogue::load(folder);
}

void check_cupti_path(const std::filesystem::path& path) {
  if (path.empty()) return;
  cupti::require_profiler();
  try {
    (void)cupti::open_library(path);
  } catch (const Error& error) {
    throw UsageError(std::string("--cupti-path: ") + error.what(), error.detail(),
                     "Name a libcupti of CUDA 12.6 or later, or its folder; without --cupti-path the usual places are searched.");
  }
}

bool is_styled(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(fd) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

void print_data(const std::string& text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0) {
    throw Error("stdout cannot be written", std::strerror(errno), "Is the disk full, or the reader of a pipe gone?");
  }
}

}  // namespace dlkprof::cli
