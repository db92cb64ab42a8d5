// What was wrong with a file and how often: one notice a kind, not one a record.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

class NoticeCounts {
 public:
  // `what` is a literal: it is kept, not copied.
  void count(std::string_view what, std::uint64_t times = 1) {
    if (times > 0) counts_[what] += times;
  }
  // Begins anew afterwards. `file`: that they are about, where it is to be named.
  void move_to(std::vector<capture::NoticeRecord>& notices, const std::string& file) {
    for (const auto& [what, times] : counts_) {
      notices.push_back({capture::Severity::warning, fmt::format("{}: {}", what, times), file, ""});
    }
    counts_.clear();
  }

 private:
  std::map<std::string_view, std::uint64_t> counts_;
};

}  // namespace dlkprof::model
