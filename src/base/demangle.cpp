#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/text.h"

namespace dlkprof {
std::string demangle(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return name == nullptr ? mangled : std::string(name.get());
}
}  // namespace dlkprof
