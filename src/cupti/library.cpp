#include "cupti/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/unique_handle.h"
#include "cupti/toolkits.h"

namespace dlkprof::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstall =
    "Install a CUDA Toolkit from 12.6 on, which holds CUPTI (developer.nvidia.com/cuda-downloads), and set CUDA_HOME to its "
    "folder.";

// Newest first. Both majors have the same entry points; structs carry their size, so that either reads ours.
constexpr std::array kSonames{"libcupti.so.13", "libcupti.so.12"};

void close_library(void* handle) noexcept { dlclose(handle); }
using UniqueLibrary = UniqueHandle<void*, close_library, nullptr>;

// dlsym as the type of the function; throws Error where `file` has none.
template <typename Function>
Function symbol(void* handle, const char* name, const fs::path& file) {
  if (void* address = dlsym(handle, name); address != nullptr) return reinterpret_cast<Function>(address);
  throw Error(fmt::format("{} is not a CUPTI that dlkprof can use", file.string()), fmt::format("it has no {}", name), kInstall);
}

fs::path file_of(const void* address, const fs::path& otherwise) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? fs::path(info.dli_fname) : otherwise;
}

// Adds the libcupti files of `folder`; what is there already under another name is left out.
void add_from(const fs::path& folder, std::vector<fs::path>& files) {
  for (const char* soname : kSonames) {
    const fs::path file = folder / soname;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) continue;
    const auto same = [&](const fs::path& other) { return fs::equivalent(file, other, error); };
    if (std::ranges::none_of(files, same)) files.push_back(file);
  }
}

void add_from_toolkit(const fs::path& root, std::vector<fs::path>& files) {
  for (const char* folder : {"lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "extras/CUPTI/lib64"}) {
    add_from(root / folder, files);
  }
}

// The first of `files` that can be used; none of them good: throws the first error that is about a file which is
// there, since that is the one to put right.
Library first_usable(const std::vector<fs::path>& files) {
  std::optional<Error> first;
  std::vector<std::string> tried;
  for (const fs::path& file : files) {
    try {
      return Library::load(file);
    } catch (const Error& error) {
      if (!first && file.has_parent_path()) first = error;
      tried.push_back(file.string());
    }
  }
  if (first) throw *first;
  throw Error("CUPTI was not found", fmt::format("tried {}", fmt::join(tried, ", ")), kInstall);
}

std::vector<fs::path> already_loaded() {
  std::vector<fs::path> files;
  for (const char* soname : kSonames) {
    const UniqueLibrary handle(dlopen(soname, RTLD_NOW | RTLD_NOLOAD));
    if (!handle) continue;
    const void* address = dlsym(handle.get(), "cuptiGetVersion");
    files.push_back(address == nullptr ? fs::path(soname) : file_of(address, soname));
  }
  return files;
}

}  // namespace

void require_supported(std::uint32_t version, const fs::path& file) {
  if (version >= kMinimumVersion) return;
  throw Error(fmt::format("{} is too old", file.string()),
              fmt::format("cuptiGetVersion: {}, where the range profiler of CUDA 12.6 needs {}", version, kMinimumVersion),
              kInstall);
}

Library Library::load(const fs::path& file) {
  UniqueLibrary handle(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) {
    const char* words = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
    throw Error(fmt::format("{} could not be loaded", file.string()), words == nullptr ? "" : words, kInstall);
  }
  Library library;
  // The version first: what an old CUPTI lacks is then called old, not broken.
  library.cuptiGetVersion = symbol<decltype(&::cuptiGetVersion)>(handle.get(), "cuptiGetVersion", file);
  if (library.cuptiGetVersion(&library.version_) != CUPTI_SUCCESS) library.version_ = 0;
  require_supported(library.version_, file);
#define X(name) library.name = symbol<decltype(&::name)>(handle.get(), #name, file);
  DLKPROF_CUPTI_FUNCTIONS(X)
#undef X
#define X(name) library.name = reinterpret_cast<decltype(&::name)>(dlsym(handle.get(), #name));
  DLKPROF_CUPTI_SAMPLING_FUNCTIONS(X)
  DLKPROF_CUPTI_SESSION_FUNCTIONS(X)
  DLKPROF_CUPTI_SASS_FUNCTIONS(X)
  DLKPROF_CUPTI_GRAPH_FUNCTIONS(X)
#undef X
  library.path_ = file_of(reinterpret_cast<const void*>(library.cuptiGetVersion), file);
  (void)handle.release();  // stays open: CUPTI cannot be unloaded safely
  return library;
}

void Library::load_nvperf() const noexcept {
  if (path_.empty()) return;  // functions of a test's own
  // The loader is asked no more than it must be: a thread of the program may hold its lock, in a dlopen whose constructors launch
  // kernels, and wait there for a thread of ours that is to evaluate.
  static std::atomic<bool> tried{false};
  if (tried) return;
  if (void* const loaded = dlopen(kNvPerf, RTLD_NOW | RTLD_NOLOAD); loaded != nullptr) {
    dlclose(loaded);
  } else {  // RTLD_DEEPBIND as CUPTI does: the program may have symbols of the same names.
    (void)dlopen((path_.parent_path() / kNvPerf).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  }
  tried = true;
}

Library Library::from(const Functions& table) {
  Library library;
  static_cast<Functions&>(library) = table;
  library.version_ = kMinimumVersion;
  return library;
}

const Library& Library::open(const fs::path& asked) {
  static std::mutex mutex;
  static const Library* opened = nullptr;  // never freed: callbacks may come while the process exits
  const std::scoped_lock lock(mutex);
  if (opened == nullptr) {
    std::vector<fs::path> files = already_loaded();
    const std::vector<fs::path> candidates = library_candidates(asked);
    files.insert(files.end(), candidates.begin(), candidates.end());
    opened = new Library(first_usable(files));
  }
  return *opened;
}

std::vector<fs::path> library_candidates(const fs::path& asked) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_directory(asked, error)) {
    add_from(asked, files);
    add_from_toolkit(asked, files);
    if (files.empty()) files.push_back(asked / kSonames.front());  // the error is about it
    return files;
  }
  if (!asked.empty()) return {asked};
  for (const fs::path& root : toolkits()) add_from_toolkit(root, files);
  files.insert(files.end(), kSonames.begin(), kSonames.end());
  return files;
}

void check(const Library& library, CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* words = nullptr;
  (void)library.cuptiGetResultString(result, &words);
  throw Error("a CUPTI call failed", fmt::format("{}: {} ({})", call, words == nullptr ? "unknown result" : words, +result),
              remedy_for(result));
}

}  // namespace dlkprof::cupti
