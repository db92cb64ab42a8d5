// SQLite files of Nsight Systems as timelines: what it recorded folds into ops and iterations, without counters.
#pragma once

#include <filesystem>

#include "model/timeline/timeline.h"

namespace dlkprof::exports {

// Whether it is such a file: an SQLite database with its tables. False where it cannot be read.
[[nodiscard]] bool is_nsys_sqlite(const std::filesystem::path& path) noexcept;

// Rows are hostile until checked: those that cannot be are left out, and counted in a notice. Throws Error: no such file,
// damaged, or without the columns that times are in.
[[nodiscard]] model::Timeline read_nsys_sqlite(const std::filesystem::path& path);

}  // namespace dlkprof::exports
