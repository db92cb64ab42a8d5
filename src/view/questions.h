// SQL from a page, answered as JSON: reading alone, and within bounds.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"

namespace dlkprof::view {

struct AnswerBounds {
  std::chrono::milliseconds time{20'000};
  std::size_t rows = 200'000;
  std::size_t bytes = std::size_t{64} << 20U;  // of the JSON
};

class Questions {
 public:
  // The databases of runs, copies of our own (run_copy.h). The first is `main`, the others are attached to it as run1, run2, ...
  explicit Questions(const std::vector<std::filesystem::path>& databases);

  // {"columns": [...], "rows": [[...], ...], "cut": false}. `body` is a JSON object with sql, parameters and run. Throws Error
  // for what cannot be answered. `is_gone` is asked meanwhile whether anybody still waits.
  [[nodiscard]] std::string answer(std::string_view body, const AnswerBounds& bounds, const std::function<bool()>& is_gone);

 private:
  std::vector<store::Connection> runs_;
};

}  // namespace dlkprof::view
