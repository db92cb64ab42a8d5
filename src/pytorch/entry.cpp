// Memory of texts is given away: whoever called frees it, with the operator delete of the program. So it is taken from that one's
// partner. An allocator or a sanitizer that replaces both has global symbols; where none does, they are malloc() and free(), as
// libstdc++'s own are (libsupc++/new_op.cc, del_op.cc), of which this library has a copy that knows of no replacement.
#include <dlfcn.h>

#include <cstdlib>
#include <new>

namespace {

template <typename Function>
Function* find_replacement(const char* mangled_name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, mangled_name));
}

}  // namespace

void* operator new(std::size_t size) {
  static const auto replacement = find_replacement<void*(std::size_t)>("_Znwm");
  void* const memory = replacement != nullptr ? replacement(size) : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  static const auto replacement = find_replacement<void(void*)>("_ZdlPv");
  if (replacement != nullptr) {
    replacement(memory);
  } else {
    std::free(memory);
  }
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
