#include "cli/failure.h"

#include <new>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::cli {
namespace {

std::string names_of(std::span<const std::filesystem::path> files) {
  std::string names;
  for (const std::filesystem::path& file : files) names += (names.empty() ? "" : ", ") + printable(file.native(), 200);
  return names;
}

}  // namespace

std::string words_of(const std::exception& failure, std::span<const std::filesystem::path> files) {
  if (const auto* error = dynamic_cast<const Error*>(&failure); error != nullptr) return error->message();
  if (dynamic_cast<const std::bad_alloc*>(&failure) == nullptr)
    return std::string("something unexpected went wrong: ") + failure.what();
  return Error(files.empty() ? "there is not enough memory" : "there is not enough memory for " + names_of(files), "",
               "Raise the limit (ulimit -v, or that of the container or job), or go on where there is more: a capture is read on "
               "any "
               "machine.")
      .message();
}

}  // namespace dlkprof::cli
