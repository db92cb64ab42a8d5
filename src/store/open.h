// Opening databases of ours that somebody hands in: hostile until looked at.
#pragma once

#include <cstdint>
#include <filesystem>

#include "store/sqlite.h"

namespace dlkprof::store {

struct OpenDatabase {
  Connection connection;
  std::filesystem::path path;
  std::int64_t bytes = 0;  // of the file
};

// Throws Error: no such file, not a database of ours, of another version, or with other tables than ours.
[[nodiscard]] OpenDatabase open_ours(const std::filesystem::path& path, Access access);

}  // namespace dlkprof::store
