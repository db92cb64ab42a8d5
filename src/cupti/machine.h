// The driver and the CUPTI of this machine, for those who look at them rather than call them: no header of CUDA is needed here.
// In a build without the CUDA Toolkit (DLKPROF_PROFILER=OFF) all but has_profiler() and built_with() throws Error, saying so.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace dlkprof::cupti {

class Library;

// Whether this build can profile, and evaluate counters.
[[nodiscard]] bool has_profiler() noexcept;
// Throws Error where it cannot.
void require_profiler();
// "built with CUDA 13.0 and CUPTI 130000", as CUPTI numbers its interface.
[[nodiscard]] std::string built_with();

// As Library::open().
[[nodiscard]] const Library& open_library(const std::filesystem::path& asked);
// "version 130000, /usr/local/cuda/lib64/libcupti.so.13"
[[nodiscard]] std::string words_of(const Library& library);

struct FoundDriver {
  int version = 0;                   // cuDriverGetVersion: 1000 * major + 10 * minor
  std::vector<std::string> devices;  // their names, by CUDA ordinal
};
// Opens libcuda.so.1 and initializes it. Throws Error: no driver, or none that works.
[[nodiscard]] FoundDriver find_driver();

// NVPerf's name for the chip of a device. find_driver() was called before. Throws Error.
[[nodiscard]] std::string chip_of_device(std::size_t ordinal, const std::filesystem::path& cupti_path);

}  // namespace dlkprof::cupti
