#include "cli/analysis.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "model/fold/places.h"
#include "report/screen/screen.h"

namespace dlkprof::cli {
namespace {

constexpr std::array kModes{std::pair{"auto", Mode::automatic},
                            std::pair{"simple", Mode::simple},
                            std::pair{"pytorch", Mode::pytorch},
                            std::pair{"tensorflow1", Mode::tensorflow1},
                            std::pair{"tensorflow2", Mode::tensorflow2},
                            std::pair{"tensorrt", Mode::tensorrt},
                            std::pair{"jax", Mode::jax}};

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const auto& [name, mode] : kModes) names.emplace_back(name);
  return names;
}

Mode mode_of(const std::string& text) {
  for (const auto& [name, mode] : kModes) {
    if (text == name) return mode;
  }
  return Mode::automatic;
}

// Simple mode looks at no marker: all work is its kernel's own.
void forget_ranges(model::Timeline& timeline) {
  timeline.ranges.clear();
  for (model::Call& call : timeline.calls) call.range = model::kNone;
}

// So many domains are named, with so much of their names.
constexpr std::size_t kMostNamed = 10, kMostColumns = 100;

std::string listed(const std::vector<std::string>& domains) {
  if (domains.empty()) return "The program marked no ranges.";
  const std::size_t named = std::min(domains.size(), kMostNamed);
  std::string text = "There are: ";
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? "" : ", ") + printable(domains[i], kMostColumns);
  return named < domains.size() ? fmt::format("{} and {} more", text, domains.size() - named) : text;
}

void fold_into(model::Profile& profile, const Folding& folding) {
  say_unknown_domains(profile.timeline, folding.fold.domains);
  profile.fold = model::fold(profile.timeline, folding.fold);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, folding.range);
  report::judge_kinds(profile);
}

model::Profile profile_of(model::Timeline timeline, const Folding& folding) {
  model::Profile profile;
  profile.timeline = std::move(timeline);
  profile.options = folding.fold;
  profile.range = folding.range;
  if (folding.simple()) forget_ranges(profile.timeline);
  return profile;
}

}  // namespace

void add_folding(CLI::App& app, Folding& folding) {
  const auto grouped = [](CLI::Option* option) { return option->group("Ops and iterations (as in DLProf)"); };
  const auto add = [&](const char* names, auto& value, const char* type, const char* help) {
    return grouped(app.add_option(names, value, help)->type_name(type));
  };
  grouped(app.add_option_function<std::string>(
              "-m,--mode", [&folding](const std::string& name) { folding.mode = mode_of(name); },
              "The program's framework; simple: only total times and the report kernel, without ops"))
      ->type_name("<mode>")
      ->check(one_of(mode_names()))
      ->default_str("auto");
  add("--key_node,--key_op", folding.fold.key_node, "<op>",
      "The op that ends an iteration, by name or op ID of the report detail (default: the framework's usual one)");
  add("--iter_start", folding.range.start, "<n>",
      "The first iteration that reports are about; 0 for everything (default: the steady range)")
      ->check(not_negative());
  add("--iter_stop", folding.range.stop, "<n>",
      "The last one, inclusive (default: the steady range's, or with --iter_start the last)")
      ->check(not_negative());
  add("--iter_kind", folding.range.kind, "<kind>", "Of these, one kind alone, as the report iterations names it, such as decode")
      ->check(not_empty("The report iterations of a run lists its kinds."));
  add("--domains", folding.fold.domains, "<domain,domain>",
      "NVTX domains that count; default is the one without a name (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void check_folding(const Folding& folding) {
  const model::IterationRange& range = folding.range;
  if (range.start && range.stop && *range.stop < *range.start) {
    throw UsageError(fmt::format("--iter_stop {} is before --iter_start {}", *range.stop, *range.start), "",
                     "Give the last iteration that counts; it is part of the range.");
  }
  const bool asks =
      !folding.fold.key_node.empty() || !folding.fold.domains.empty() || range.start || range.stop || !range.kind.empty();
  if (folding.simple() && asks) {
    throw UsageError("simple mode has neither ops nor iterations", "",
                     "Leave out --mode=simple, or --key_node, --iter_start, --iter_stop, --iter_kind and --domains.");
  }
}

void say_unknown_domains(const model::Timeline& timeline, const std::vector<std::string>& asked, const std::string& file) {
  if (asked.empty()) return;
  const std::vector<std::string> domains = model::domain_names(timeline);
  for (const std::string& one : asked) {
    if (std::find(domains.begin(), domains.end(), one) != domains.end()) continue;
    const std::string where = file.empty() ? "" : printable(file) + ": ";
    const Error words(fmt::format("{}no range is in the NVTX domain {}", where, printable(one, kMostColumns)), "--domains",
                      listed(domains));
    say("dlkprof: {}\n", words.message());
  }
}

model::Profile analyse(model::Timeline timeline, const Folding& folding) {
  model::Profile profile = profile_of(std::move(timeline), folding);
  fold_into(profile, folding);
  return profile;
}

model::Profile place(model::Timeline timeline, const Folding& folding) {
  model::Profile profile = profile_of(std::move(timeline), folding);
  say_unknown_domains(profile.timeline, folding.fold.domains);
  profile.fold = model::fold_places(profile.timeline, folding.fold);
  profile.aggregate = model::aggregated_range(profile.fold, folding.range);
  return profile;
}

model::Profile analyse_somehow(model::Timeline timeline, const Folding& folding) {
  model::Profile profile = profile_of(std::move(timeline), folding);
  try {
    fold_into(profile, folding);
  } catch (const UsageError& error) {
    say("dlkprof: {}\ndlkprof: folded without it; fold again with --database\n", error.message());
    fold_into(profile, {});
  }
  return profile;
}

}  // namespace dlkprof::cli
