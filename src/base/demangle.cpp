#define HAVE_DECL_BASENAME 1  // libiberty would declare its own, unlike that of <string.h>
#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <utility>

#include "base/large_stack.h"
#include "base/text.h"

// libiberty's demangler, the one behind c++filt and gdb. The C++ runtime's own refuses names of more than 1,024
// characters, which CUTLASS kernels exceed, and builds the whole text in memory: some 300 hostile characters (nested
// substitutions) make it take tens of gigabytes. Here the text comes piece by piece, and is broken off when it gets long.
//
// It takes stack by the name: a level of recursion for each character, and an array of templates times references. Both are
// bounded by the name's text, and there is a stack for as much.

namespace dlkprof {
namespace {

constexpr std::size_t kMaxMangled = 4096;  // some 16 MB of recursion
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

// Before it prints a name libiberty allocates 16 bytes for each pair of a template and a reference to a template's parameter. It
// counts what stands in a substitution up to twice. No template comes without an I, and no reference without an R or O, so a
// name that passes takes no more than a quarter of the stack; those of CUTLASS take a hundredth of that.
bool fits_the_stack(const std::string& mangled) {
  constexpr std::size_t kBytesAPair = 16, kTimesCounted = 2;
  const auto templates = static_cast<std::size_t>(std::count(mangled.begin(), mangled.end(), 'I'));
  const auto references =
      static_cast<std::size_t>(std::count_if(mangled.begin(), mangled.end(), [](char c) { return c == 'R' || c == 'O'; }));
  return templates * references * kTimesCounted * kTimesCounted * kBytesAPair <= kLargeStackBytes / 4;
}

struct Demangling {
  const char* mangled;
  Pieces pieces;
  bool understood = false;
};

void demangle_here(void* opaque) noexcept {
  auto& work = *static_cast<Demangling*>(opaque);
  if (setjmp(work.pieces.too_long) != 0) return;  // NOLINT(cert-err52-cpp)
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT;
  work.understood = cplus_demangle_v3_callback(work.mangled, kOptions, take_piece, &work.pieces) != 0;
}

}  // namespace

std::string demangle(const std::string& mangled) {
  // Without the prefix a plain name would be taken for a type: a kernel called "d" for a double.
  if (mangled.size() > kMaxMangled || !mangled.starts_with("_Z") || mangled.find('\0') != std::string::npos) return mangled;
  if (!fits_the_stack(mangled)) return mangled;
  Demangling work{.mangled = mangled.c_str(), .pieces = {}};
  work.pieces.text.reserve(kMaxDemangled);
  if (!run_on_large_stack(demangle_here, &work) || !work.understood) return mangled;
  work.pieces.text.shrink_to_fit();
  return std::move(work.pieces.text);
}

}  // namespace dlkprof
