#include "cli/sweep/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/compare/compare_command.h"
#include "cli/profile/fingerprint.h"

namespace dlkprof::cli {
namespace {

constexpr std::size_t kShownValue = 40;

// One value for each parameter.
using Combination = std::vector<std::string>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_letter_or_digit(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool is_parameter_name(std::string_view name) {
  const auto fits = [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (text[i] == ',') {
      values.emplace_back();
    } else {
      values.back() += text[escapes ? ++i : i];
    }
  }
  return values;
}

// `word` with the values put in, in one go: what is put in is not looked at again. `use` is told the parameters that are there.
template <typename Use>
std::string put_in(std::string_view word, const std::vector<Parameter>& parameters, const Combination& values, Use use) {
  std::string text;
  while (!word.empty()) {
    const auto named = std::find_if(parameters.begin(), parameters.end(), [word](const Parameter& one) {
      return word.starts_with('{') && word.substr(1).starts_with(one.name) && word.substr(1 + one.name.size()).starts_with('}');
    });
    if (named == parameters.end()) {
      text += word.front();
      word.remove_prefix(1);
      continue;
    }
    const auto number = static_cast<std::size_t>(named - parameters.begin());
    use(number);
    text += values[number];
    word.remove_prefix(named->name.size() + 2);
  }
  return text;
}

void check_names(const std::vector<Parameter>& parameters) {
  for (auto one = parameters.begin(); one != parameters.end(); ++one) {
    const auto same = [&one](const Parameter& other) { return other.name == one->name; };
    if (std::find_if(parameters.begin(), one, same) == one) continue;
    throw UsageError(fmt::format("the parameter {} is given twice", one->name), "", "Put all of its values into one list.");
  }
}

void check_all_are_used(const std::vector<Parameter>& parameters, const std::vector<std::string>& program) {
  std::vector<bool> used(parameters.size());
  const Combination nothing(parameters.size());
  for (const std::string& word : program) (void)put_in(word, parameters, nothing, [&used](std::size_t i) { used[i] = true; });
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused == used.end()) return;
  const std::string& name = parameters[static_cast<std::size_t>(unused - used.begin())].name;
  throw UsageError(fmt::format("the program's command line has no {{{}}} for the values of -L {}", name, name), "",
                   fmt::format("Write it where they go: dlkprof sweep -L {0} 1,2 -- python train.py --{0} {{{0}}}", name));
}

std::vector<Combination> combinations_of(const std::vector<Parameter>& parameters) {
  std::vector<Combination> all(1);
  for (const Parameter& parameter : parameters) {
    if (all.size() * parameter.values.size() > kMostRuns) {
      throw UsageError(fmt::format("a sweep takes at most {} runs, and these are more", kMostRuns), "",
                       "Give fewer values: each combination of them is a run, and so many can be compared.");
    }
    std::vector<Combination> longer;
    for (const Combination& one : all) {
      for (const std::string& value : parameter.values) longer.emplace_back(one).push_back(value);
    }
    all = std::move(longer);
  }
  return all;
}

// A value as a part of a file name, from which it can be told: letters, digits and + - . _ stay, all else is %XX. An underscore
// stays before a letter alone: <base_name>_<digits>.dlkcap is the capture of a further process.
std::string file_name_of(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const bool in_name = c == '_' && i + 1 < value.size() && is_letter(value[i + 1]);
    const bool stays = is_letter_or_digit(c) || c == '+' || c == '-' || c == '.' || in_name;
    text += stays ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// Room is left in the 255 bytes of a file's name for a base name, and for what follows it.
std::string shortened(std::string part) {
  constexpr std::size_t kMost = 120;
  constexpr std::size_t kKept = 100;
  if (part.size() <= kMost) return part;
  return part.substr(0, kKept) + "~" + Fingerprint().add(part).text();  // no value has a ~
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;  // as compare takes
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failure == std::errc() && end == text.data() + text.size() && value > 0 && value <= kMost;
  return whole ? std::optional(value) : std::nullopt;
}

bool is_batch_size(const Parameter& parameter) {
  const bool called = parameter.name == "batch_size" || parameter.name == "batch-size" || parameter.name == "bs";
  return called && std::all_of(parameter.values.begin(), parameter.values.end(),
                               [](const std::string& value) { return number_in(value).has_value(); });
}

PlannedRun planned(const std::vector<Parameter>& parameters, const std::vector<std::string>& program, const Combination& values) {
  PlannedRun run;
  for (const std::string& word : program) run.program.push_back(put_in(word, parameters, values, [](std::size_t) {}));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].name;
    run.label += fmt::format("{}{}={}", i == 0 ? "" : " ", name, values[i]);
    run.base_name += fmt::format("{}{}-{}", i == 0 ? "_" : ",", name, file_name_of(values[i]));
    if (!run.batch_size && is_batch_size(parameters[i])) run.batch_size = number_in(values[i]);
  }
  run.base_name = shortened(std::move(run.base_name));
  return run;
}

}  // namespace

Parameter parse_parameter(const std::string& name, const std::string& values) {
  if (!is_parameter_name(name)) {
    throw UsageError(fmt::format("-L: '{}' cannot be the name of a parameter", printable(name, kShownValue)), "",
                     "Names have letters, digits, _, - and . alone. Example: -L batch_size 4,512");
  }
  Parameter parameter{name, split_values(values)};
  if (values.empty()) throw UsageError(fmt::format("-L {} has no values", name), "", "Example: -L batch_size 4,512");
  std::vector<std::string> seen;
  for (const std::string& value : parameter.values) {
    if (value.empty()) {
      throw UsageError(fmt::format("-L {} has an empty value: '{}'", name, printable(values, kShownValue)), "",
                       "Example: -L batch_size 4,512");
    }
    if (std::find(seen.begin(), seen.end(), value) != seen.end()) {
      throw UsageError(fmt::format("-L {} has the value {} twice", name, printable(value, kShownValue)), "",
                       "Give each value once.");
    }
    seen.push_back(value);
  }
  return parameter;
}

std::vector<PlannedRun> plan_sweep(const std::vector<Parameter>& parameters, const std::vector<std::string>& program,
                                   const std::string& base_name) {
  check_names(parameters);
  check_all_are_used(parameters, program);
  std::vector<PlannedRun> runs;
  for (const Combination& values : combinations_of(parameters)) {
    PlannedRun& run = runs.emplace_back(planned(parameters, program, values));
    run.base_name.insert(0, base_name);
  }
  return runs;
}

}  // namespace dlkprof::cli
