// Launches that the driver refuses, as an autotuner's trials are. What measures them one by one sets counters up for each.
#pragma once

#include <map>

#include "inject/session/ledger.h"

namespace dlkprof::inject {

class Refusals {
 public:
  // A configuration that was refused so often in a row is tried no more: each time takes 0.4 s under kernel replay (H200;
  // results/2026-11-27-h200/runs.md).
  static constexpr unsigned kMost = 3;

  void refused(Ledger::Entry entry) { ++in_a_row_[entry]; }
  void measured(Ledger::Entry entry) { in_a_row_.erase(entry); }
  [[nodiscard]] bool are_expected(Ledger::Entry entry) const {
    const auto found = in_a_row_.find(entry);
    return found != in_a_row_.end() && found->second >= kMost;
  }

 private:
  std::map<Ledger::Entry, unsigned> in_a_row_;
};

}  // namespace dlkprof::inject
