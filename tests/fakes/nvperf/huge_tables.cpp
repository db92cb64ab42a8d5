// Gives the tables of NVPerf huge pages before NVPerf fills them. It has 120 MB of them in its .bss and writes to each page when
// it is loaded: some 0.4 s on a virtual machine, for a program of a test that runs for 0.1 s; in huge pages 0.03 to 0.2 s. Where
// the kernel has none, all is as without.
#include <link.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 8 * kHugePage;

// What a library has in its .bss is what its segments take in memory beyond the file.
int advise(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) {
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || segment.p_memsz < segment.p_filesz + kLarge) continue;
    const std::uintptr_t begin = (info->dlpi_addr + segment.p_vaddr + segment.p_filesz + kHugePage - 1) & ~(kHugePage - 1);
    const std::uintptr_t end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    (void)madvise(reinterpret_cast<void*>(begin), (end - begin) & ~(kHugePage - 1), MADV_HUGEPAGE);
  }
  return 0;
}

// All of a dlopen is mapped by now; of libraries that do not need one another the one that is named last begins first.
[[gnu::constructor]] void advise_large_tables() { dl_iterate_phdr(advise, nullptr); }

}  // namespace
