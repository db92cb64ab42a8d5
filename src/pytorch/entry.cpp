// Memory of texts is given away: PyTorch frees it, with the operator delete that its libraries were bound to. So it is taken from
// that one's partner. Where an allocator or a sanitizer replaced both before PyTorch was loaded, they are the first with global
// symbols; else those that PyTorch's libraries find among what they need themselves, libstdc++'s as a rule, of which this library
// has a copy that is nobody's partner.
#include <dlfcn.h>

#include <cstdlib>
#include <new>

namespace {

using New = void*(std::size_t);
using Delete = void(void*);

constexpr const char *kNew = "_Znwm", *kDelete = "_ZdlPv";

// Looked up as this library is opened, right before PyTorch's are: what gets global symbols later is none of theirs.
New* const kGlobalNew = reinterpret_cast<New*>(dlsym(RTLD_DEFAULT, kNew));
Delete* const kGlobalDelete = reinterpret_cast<Delete*>(dlsym(RTLD_DEFAULT, kDelete));

// Of libtorch_cpu.so and what it needs, in that order; null where it is not there.
void* find_in_pytorch(const char* name) {
  void* const pytorch = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
  return pytorch != nullptr ? dlsym(pytorch, name) : nullptr;
}

}  // namespace

void* operator new(std::size_t size) {
  static New* const allocate = kGlobalNew != nullptr ? kGlobalNew : reinterpret_cast<New*>(find_in_pytorch(kNew));
  void* const memory = allocate != nullptr ? allocate(size) : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  static Delete* const free = kGlobalDelete != nullptr ? kGlobalDelete : reinterpret_cast<Delete*>(find_in_pytorch(kDelete));
  if (free != nullptr) {
    free(memory);
  } else {
    std::free(memory);
  }
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
