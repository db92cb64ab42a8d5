#include "cupti/toolkits.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <system_error>

#include "base/text.h"

namespace dlkprof::cupti {
namespace {

namespace fs = std::filesystem;

fs::path environment_path(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): dlkprof never changes the environment
  return value == nullptr ? fs::path() : fs::path(value);
}

// The folder of the toolkit whose nvcc is on PATH; empty where there is none.
fs::path toolkit_of_nvcc() {
  for (const std::string& folder : dlkprof::split(environment_path("PATH").native(), ':')) {
    std::error_code error;
    const fs::path nvcc = fs::canonical(fs::path(folder) / "nvcc", error);
    if (!error) return nvcc.parent_path().parent_path();
  }
  return {};
}

// "cuda-12.10" as {12, 10}, so that 12.10 comes after 12.9.
std::vector<int> version_in(const fs::path& folder) {
  std::vector<int> numbers;
  int number = -1;
  for (const char letter : folder.filename().native() + ".") {
    if (letter >= '0' && letter <= '9') {
      number = std::min(std::max(number, 0) * 10 + (letter - '0'), 100000);
    } else if (number >= 0) {
      numbers.push_back(number);
      number = -1;
    }
  }
  return numbers;
}

// /usr/local/cuda, then /usr/local/cuda-*, newest first.
std::vector<fs::path> usual_toolkits() {
  std::vector<fs::path> versioned;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    if (entry.path().filename().native().starts_with("cuda-")) versioned.push_back(entry.path());
  }
  std::ranges::sort(versioned, std::greater{}, version_in);
  std::vector<fs::path> found{"/usr/local/cuda"};
  found.insert(found.end(), versioned.begin(), versioned.end());
  return found;
}

}  // namespace

std::vector<fs::path> toolkits() {
  std::vector<fs::path> roots{environment_path("CUDA_HOME"), environment_path("CUDA_PATH"), toolkit_of_nvcc()};
  const std::vector<fs::path> usual = usual_toolkits();
  roots.insert(roots.end(), usual.begin(), usual.end());
  std::erase_if(roots, [](const fs::path& root) { return root.empty(); });
  return roots;
}

}  // namespace dlkprof::cupti
