#include "cli/compare/gate.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/say.h"
#include "base/text.h"
#include "select/filters.h"

namespace dlkprof::cli {
namespace {

using advise::GateResult;
using advise::GateRule;
using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "dlkprof/gate/1";
constexpr const char* kDocs = "docs/user/compare.md says what a gate looks like.";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw UsageError(fmt::format("the gate {} cannot be used", printable(path.string())), what, kDocs);
}

// One rule of the file; its faults are told with its number.
class RuleReader {
 public:
  RuleReader(const std::filesystem::path& path, std::size_t number, const Json& rule)
      : path_(path), number_(number), rule_(rule) {}

  GateRule read() {
    if (!rule_.is_object()) fail("is no object");
    static const std::set<std::string> kKnown{"name", "time", "counter", "ops", "max_increase_pct", "min_increase", "if_unknown"};
    for (const auto& [key, value] : rule_.items()) {
      if (!kKnown.contains(key)) fail(fmt::format("has '{}', which no rule has", printable(key, 40)));
    }
    GateRule made{.name = text("name")};
    read_figure(made);
    if (rule_.contains("ops")) {
      const std::string ops = text("ops");
      if (ops.empty()) fail("has 'ops' without a name");
      auto filter = std::make_shared<select::NameFilter>("ops", ops, select::split_name(ops));
      made.ops = [filter](const std::string& name) { return filter->matches(name); };
    }
    if (made.ops && made.kind == GateRule::Kind::iteration_time) fail("asks for the iteration time of ops, which have none");
    made.most_percent = amount("max_increase_pct");
    made.least_growth = amount("min_increase");
    if (made.least_growth > 0 && made.kind != GateRule::Kind::counter) fail("has a min_increase, which only counters have");
    const std::string unknown = text("if_unknown");
    if (!unknown.empty() && unknown != "break" && unknown != "pass") fail("has an if_unknown that is neither break nor pass");
    made.breaks_if_unknown = unknown != "pass";
    return made;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { refuse(path_, fmt::format("rule {} {}", number_, what)); }

  [[nodiscard]] std::string text(const char* key) const {
    const auto found = rule_.find(key);
    if (found == rule_.end()) return "";
    if (!found->is_string()) fail(fmt::format("has a '{}' that is no text", key));
    return found->get<std::string>();
  }

  void read_figure(GateRule& made) const {
    const std::string time = text("time");
    made.counter = text("counter");
    if (time.empty() == made.counter.empty()) fail("needs either 'time' or 'counter'");
    if (!made.counter.empty()) {
      made.kind = GateRule::Kind::counter;
      if (advise::is_clock_free(made.counter)) return;
      fail(
          fmt::format("names the counter {}, which depends on the clock or is no sum; take instructions, bytes, sectors, "
                      "requests, wavefronts or operations, such as dram__bytes.sum",
                      printable(made.counter, 80)));
    }
    if (time != "iteration" && time != "gpu") fail("has a 'time' that is neither iteration nor gpu");
    made.kind = time == "gpu" ? GateRule::Kind::gpu_time : GateRule::Kind::iteration_time;
  }

  [[nodiscard]] double amount(const char* key) const {
    const auto found = rule_.find(key);
    if (found == rule_.end()) return 0;
    const double value = found->is_number() ? found->get<double>() : NAN;
    if (!(value >= 0) || !std::isfinite(value)) fail(fmt::format("has a {} that is no number from 0 on", key));
    return value;
  }

  const std::filesystem::path& path_;
  std::size_t number_;
  const Json& rule_;
};

const char* word(const GateResult& result) {
  switch (result.verdict) {
    case GateResult::Verdict::broken:
      return "broken";
    case GateResult::Verdict::unknown:
      return result.breaks() ? "broken, as it cannot be checked" : "not checked";
    default:
      return "kept";
  }
}

}  // namespace

std::vector<GateRule> load_gate(const std::filesystem::path& path) {
  const Json document = Json::parse(read_file(path), nullptr, false);
  if (document.is_discarded() || !document.is_object()) refuse(path, "it is no JSON object");
  if (const auto schema = document.find("schema"); schema == document.end() || *schema != kSchema)
    refuse(path, fmt::format("its \"schema\" is not \"{}\"", kSchema));
  const auto list = document.find("rules");
  if (list == document.end() || !list->is_array() || list->empty()) refuse(path, "it has no \"rules\"");
  std::vector<GateRule> rules;
  for (const Json& rule : *list) rules.push_back(RuleReader(path, rules.size() + 1, rule).read());
  return rules;
}

int apply_gate(const std::vector<GateRule>& rules, const std::vector<const advise::Comparison*>& pairs) {
  std::size_t broken = 0, checked = 0;
  for (const advise::Comparison* pair : pairs) {
    for (const GateResult& result : advise::check_gate(rules, *pair)) {
      ++checked;
      broken += result.breaks() ? 1 : 0;
      const std::string run = pairs.size() < 2 ? "" : printable(pair->other->label, 40) + ": ";
      say("dlkprof: gate {}: {}{}\n", word(result), run, printable(result.why));
    }
  }
  if (broken == 0) return 0;
  say("dlkprof: {} of {} rules of the gate broken\n", broken, checked);
  return kGateBroken;
}

}  // namespace dlkprof::cli
