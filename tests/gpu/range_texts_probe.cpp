// Stands before dlkprof's functions for the texts of PyTorch's ranges: has each text made by dlkprof and by PyTorch, and counts
// what differs. Loaded by python_probe.py, before PyTorch and libdlkprof_pytorch.so, with global symbols.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace {

std::atomic<long> same{0}, different{0}, incomparable{0};

// Of a library that somebody else has opened.
void* find(const char* library, const char* name) {
  void* const opened = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  return opened != nullptr ? dlsym(opened, name) : nullptr;
}

template <typename Argument>
std::string compare(const char* name, const Argument& argument) {
  using Function = std::string (*)(const Argument&);
  static const auto ours = reinterpret_cast<Function>(find("libdlkprof_pytorch.so", name));
  static const auto theirs = reinterpret_cast<Function>(find("libtorch_cpu.so", name));
  if (ours == nullptr || theirs == nullptr) {
    ++incomparable;
    return "";
  }
  const std::string text = theirs(argument);
  if (ours(argument) == text) {
    ++same;
  } else if (++different == 1) {
    std::fprintf(stderr, "dlkprof: %s instead of %s\n", ours(argument).c_str(), text.c_str());
  }
  return text;
}

}  // namespace

namespace torch::profiler::impl {

std::string shapesToStr(const std::vector<std::vector<std::int64_t>>& shapes) {
  return compare("_ZN5torch8profiler4impl11shapesToStrB5cxx11ERKSt6vectorIS2_IlSaIlEESaIS4_EE", shapes);
}

std::string inputOpIdsToStr(const std::list<std::pair<std::uint64_t, int>>& inputs) {
  return compare("_ZN5torch8profiler4impl15inputOpIdsToStrERKNSt7__cxx114listISt4pairImiESaIS5_EEE", inputs);
}

}  // namespace torch::profiler::impl

// Texts so far: those that were the same, that were not, and that one of the two did not make.
extern "C" void range_texts_seen(long seen[3]) {
  seen[0] = same;
  seen[1] = different;
  seen[2] = incomparable;
}
