// What the machine says of itself: facts of source "system".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

// cpu.model, driver.version; those that cannot be found are left out. `proc` is where procfs(5) is.
[[nodiscard]] std::vector<capture::Fact> system_facts(const std::filesystem::path& proc = "/proc");

// PyTorch, JAX, TensorFlow or TensorRT is in the process, by the names of its libraries.
[[nodiscard]] bool framework_is_loaded();

}  // namespace dlkprof::inject
