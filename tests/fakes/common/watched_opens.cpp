// Preloaded: notes which files a thread opens that is not the first of its process. Descriptors are given out from the lowest
// number, so that one of a thread of dlkprof's own, were it open for a moment only, stands where the program's next file will.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "common/journal.h"

namespace {

void look_at(const char* path) {
  const char* journal = std::getenv("FAKE_JOURNAL");
  if (gettid() == getpid() || (journal != nullptr && std::strcmp(path, journal) == 0)) return;
  fakes::trace(std::string("opened beside the program: ") + path);
}

int open_watched(const char* name, const char* path, int flags, mode_t mode) {
  look_at(path);
  return reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, name))(path, flags, mode);
}

}  // namespace

extern "C" {  // declared here alone: those of <fcntl.h> take any arguments
[[gnu::visibility("default")]] int open(const char* path, int flags, mode_t mode) {
  return open_watched("open", path, flags, mode);
}
[[gnu::visibility("default")]] int open64(const char* path, int flags, mode_t mode) {
  return open_watched("open64", path, flags, mode);
}
}
