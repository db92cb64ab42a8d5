#include "base/temporary_folder.h"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp() is POSIX's

#include <cerrno>
#include <string>
#include <system_error>

#include "base/error.h"

namespace dlkprof {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void no_folder(const std::error_code& failure) {
  throw Error("no temporary folder can be made", failure.message(), "Set TMPDIR to a folder that can be written to.");
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code failure;
  std::string name = (fs::temp_directory_path(failure) / "dlkprof-XXXXXX").string();
  if (failure) no_folder(failure);
  if (mkdtemp(name.data()) == nullptr) no_folder({errno, std::generic_category()});
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace dlkprof
