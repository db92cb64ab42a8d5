// What findings rest on: figures of the run, an op or a launch configuration, each with the query that gives it from a database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/config_use.h"
#include "advise/rules.h"
#include "model/profile.h"

namespace dlkprof::report {

struct EvidenceFigure {
  std::string what, unit;
  std::optional<double> value;
  std::optional<std::uint64_t> n;   // launches, samples or iterations behind it
  std::optional<double> low, high;  // 95 % confidence interval
  std::string query;                // one row, one column: the value
};

// What no rule could say, as nothing was measured.
struct Abstention {
  const advise::Rule* rule = nullptr;  // null: all of them
  std::string reason, collect_with;
};

// Of one profile, which outlives it.
class EvidenceFinder {
 public:
  explicit EvidenceFinder(const model::Profile& profile);

  // `rank`: of the finding among all.
  [[nodiscard]] std::vector<EvidenceFigure> evidence(const advise::Finding& finding) const;
  // None where no figure bounds it.
  [[nodiscard]] std::optional<EvidenceFigure> gain(const advise::Finding& finding, std::size_t rank) const;
  [[nodiscard]] EvidenceFigure iteration_time() const;
  [[nodiscard]] std::vector<Abstention> abstentions() const;

 private:
  void add_of_run(const advise::Finding& finding, std::vector<EvidenceFigure>& to) const;
  void add_of_op(const advise::Finding& finding, std::vector<EvidenceFigure>& to) const;
  void add_of_config(const advise::Finding& finding, std::vector<EvidenceFigure>& to) const;

  const model::Profile& profile_;
  std::vector<advise::ConfigUse> configs_;
};

// Text as SQL has it: in quotes, with those inside doubled.
[[nodiscard]] std::string sql_text(const std::string& text);

}  // namespace dlkprof::report
