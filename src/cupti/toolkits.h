// Where CUDA Toolkits are on this machine.
#pragma once

#include <filesystem>
#include <vector>

namespace dlkprof::cupti {

// Folders of CUDA Toolkits that may be there, best first: CUDA_HOME, CUDA_PATH, the toolkit behind nvcc on PATH,
// /usr/local/cuda*.
[[nodiscard]] std::vector<std::filesystem::path> toolkits();

}  // namespace dlkprof::cupti
