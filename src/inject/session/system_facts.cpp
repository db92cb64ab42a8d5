#include "inject/session/system_facts.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <string_view>

namespace dlkprof::inject {
namespace {

constexpr int kMostLines = 64;  // of one processor in /proc/cpuinfo

// What the first group of `pattern` is in the first line where it is found; "" where in none.
std::string find_in(const std::filesystem::path& file, const char* pattern) {
  std::ifstream lines(file);
  const std::regex words(pattern);
  std::string line;
  for (int i = 0; i < kMostLines && std::getline(lines, line); ++i) {
    if (std::smatch match; std::regex_search(line, match, words)) return match[1];
  }
  return "";
}

// What the names of files begin with that hold GPU code of PyTorch, JAX, TensorFlow and TensorRT.
constexpr std::array<std::string_view, 6> kFrameworks{"libtorch_c",       "xla_extension",           "xla_cuda_plugin",
                                                      "libtensorflow_cc", "libtensorflow_framework", "libnvinfer"};

int is_framework(dl_phdr_info* library, std::size_t, void*) {
  std::string_view name = library->dlpi_name != nullptr ? library->dlpi_name : "";
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  return std::ranges::any_of(kFrameworks, [name](std::string_view start) { return name.starts_with(start); }) ? 1 : 0;
}

}  // namespace

bool framework_is_loaded() { return dl_iterate_phdr(is_framework, nullptr) != 0; }

std::vector<capture::Fact> system_facts(const std::filesystem::path& proc) {
  std::vector<capture::Fact> facts;
  const auto add = [&facts](const char* name, std::string value) {
    if (!value.empty()) facts.push_back({"system", name, std::move(value)});
  };
  add("cpu.model", find_in(proc / "cpuinfo", R"(^model name\s*:\s*(.+))"));
  add("driver.version", find_in(proc / "driver" / "nvidia" / "version", R"(NVRM version:.*\s(\d+\.[\d.]+)\s)"));
  return facts;
}

}  // namespace dlkprof::inject
