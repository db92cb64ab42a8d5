// The expert system: rules that look for one problem each, and what they found. A rule is a row of data and a small function;
// docs/reference/rules.md is made of the rows. Names of detectors are those of the guide (10.10) where it has them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/config_use.h"
#include "advise/verdict.h"
#include "model/profile.h"

namespace dlkprof::advise {

// A run with what several rules look at, made once.
struct Case {
  explicit Case(const model::Profile& profile);

  const model::Profile& profile;
  std::map<std::string, std::string> facts;  // of PyTorch, by name
  std::vector<ConfigUse> configs;
  EvidenceTable evidence;
  std::int64_t gpu_ns = 0;  // of all ops
  bool of_jax = false;      // has ops in modules that are called as JAX names what it compiles

  // Whether a fact was told, and is "true".
  [[nodiscard]] bool is_true(const char* fact) const;
  [[nodiscard]] std::optional<std::string> fact(const std::string& name) const;
  // Of all GPU time; 0 where there is none.
  [[nodiscard]] double percent_of_gpu_time(std::int64_t ns) const;
};

struct Rule;

// What one rule found in one place. Texts are sentences; names in them are printable and cut, those in fields of their own are
// as they are.
struct Finding {
  const Rule* rule = nullptr;  // its headline is the title
  std::string problem;         // the claim, with its figures, and of which op
  std::string recommendation;  // the change to make; without it: the rule's advice
  std::string where;           // op or kernel, as reports have it; empty: the run
  // What mending it could save of the iterations aggregated, at most. Findings overlap: bounds do not add up.
  std::optional<std::int64_t> bound_ns;
  std::uint32_t op = model::kNone;      // index into Fold::ops; kNone: the run
  std::string basis = {};               // how the figures were got, and of how many launches or iterations
  std::uint32_t config = model::kNone;  // index into Timeline::configs; kNone: an op, or the run
};
using Findings = std::vector<Finding>;

struct Rule {
  const char* name;        // small_grid
  const char* detector;    // "Bad Iteration Range Detector"
  const char* headline;    // for one line of a summary
  const char* frameworks;  // "All", as in the guide
  std::string fires;       // when, with its thresholds
  std::string source;      // where these come from
  std::string stake;       // what is given as its estimated gain
  const char* advice;      // what to do, where a finding has nothing better to say
  const char* sections;    // of metrics/ that it needs; "" where none
  void (*find)(const Case& run, Findings& findings);
  const char* jax_advice = nullptr;  // in place of `advice` in programs of JAX; nullptr: the same
};

// All of them, in the order of docs/reference/rules.md: those of the guide first.
[[nodiscard]] std::span<const Rule> rules();

// What all rules found: by time at stake, falling; those without come after them in the order of rules().
[[nodiscard]] Findings diagnose(const model::Profile& profile);

// Whether it is shown as 0.0 % of the time aggregated: then it is in the report, but in no headline.
[[nodiscard]] bool is_negligible(const Finding& finding, const model::Summary& summary);

// All rules in full, for `dlkprof help rules`.
[[nodiscard]] std::string describe_rules();
// docs/reference/rules.md: the rules and when they fire.
[[nodiscard]] std::string list_rules();

}  // namespace dlkprof::advise
