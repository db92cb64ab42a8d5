#define HAVE_DECL_BASENAME 1  // libiberty would declare its own, unlike that of <string.h>
#include <libiberty/demangle.h>

#include <csetjmp>

#include "base/text.h"

// libiberty's demangler, the one behind c++filt and gdb. The C++ runtime's own refuses names of more than 1,024
// characters, which CUTLASS kernels exceed, and builds the whole text in memory: some 300 hostile characters (nested
// substitutions) make it take tens of gigabytes. Here the text comes piece by piece, and is broken off when it gets long.

namespace dlkprof {
namespace {

// Recursion goes as deep as a name is long: this many levels fit the stack of any thread of a program.
constexpr std::size_t kMaxMangled = 4096;
constexpr std::size_t kMaxDemangled = std::size_t{1} << 16U;

struct Pieces {
  std::string text;
  std::jmp_buf too_long;
};

// A C callback: it cannot throw through the demangler, which allocates on the stack alone, so that leaving it by
// longjmp leaks nothing. The text's room is reserved before, and no object here needs a destructor.
void take_piece(const char* piece, std::size_t length, void* opaque) {
  auto& pieces = *static_cast<Pieces*>(opaque);
  if (pieces.text.size() + length > kMaxDemangled) std::longjmp(pieces.too_long, 1);  // NOLINT(cert-err52-cpp)
  pieces.text.append(piece, length);
}

}  // namespace

std::string demangle(const std::string& mangled) {
  // Without the prefix a plain name would be taken for a type: a kernel called "d" for a double.
  if (mangled.size() > kMaxMangled || !mangled.starts_with("_Z") || mangled.find('\0') != std::string::npos) return mangled;
  Pieces pieces{};
  pieces.text.reserve(kMaxDemangled);
  if (setjmp(pieces.too_long) != 0) return mangled;  // NOLINT(cert-err52-cpp)
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT;
  const bool understood = cplus_demangle_v3_callback(mangled.c_str(), kOptions, take_piece, &pieces) != 0;
  pieces.text.shrink_to_fit();
  return understood ? pieces.text : mangled;
}

}  // namespace dlkprof
