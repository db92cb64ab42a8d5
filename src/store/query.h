// Queries that somebody else writes, on databases of ours: they only read, take no longer than they may, and answer no more than
// they may.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/open.h"

namespace dlkprof::store {

using QueryCell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryLimits {
  std::chrono::milliseconds time = std::chrono::seconds(10);
  std::size_t bytes = std::size_t{10} << 20U;  // of all cells, as text
};

struct QueryAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryCell>> rows;
  bool is_cut = false;  // there are more
};

// What ended a query before its end, when `stop` did.
class QueryStopped : public std::exception {};

class QueryDatabase {
 public:
  // Throws Error as open_ours() does, and where a view is not as we wrote it: it would run with every query.
  explicit QueryDatabase(const std::filesystem::path& path);

  // One statement. `stop` is asked some times a second. Throws UsageError: it does not read alone, is more than one, or is wrong;
  // Error: it took too long; QueryStopped.
  [[nodiscard]] QueryAnswer ask(std::string_view sql, const QueryLimits& limits, const std::function<bool()>& stop);

 private:
  OpenDatabase database_;
};

}  // namespace dlkprof::store
