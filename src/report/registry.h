// The reports there are: one table that help texts, docs/user/reports.md and whatever makes reports read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/catalogue.h"
#include "model/aggregate/op_groups.h"
#include "model/profile.h"
#include "model/sass/sass.h"
#include "report/format/people.h"
#include "report/launches/reports.h"

namespace dlkprof::report {

// What reports are made from. All of it outlives their rows.
struct Inputs {
  const model::Profile& profile;
  bool simple = false;                        // the three figures of simple mode stand for the summary
  std::string profile_name = {};              // for the summary
  std::vector<cupti::Section> sections = {};  // those shown by `kernels`
  std::vector<std::string> metrics = {};      // shown besides, under their own names
  UnitLookup unit_of = [](const std::string&) { return std::string(); };
  Choice choice = {};                // of rows and columns
  Page page = {};                    // for people
  std::optional<model::By> by = {};  // rows of ops in groups
  model::Sass sass = {};             // for `source`: empty where it is not known
};

struct Report {
  const char* name;
  const char* a_row_per;                         // what a row is of: the line that people read
  const char* order;                             // what rows are ordered by
  Rows (*rows)(const Inputs& inputs) = nullptr;  // none: the summary, which is tables
  bool groups = false;                           // its rows can be grouped: Inputs::by
  // What a terminal gets in the place of a table.
  std::string (*text)(const model::Profile& profile, const Choice& choice, const Page& page) = nullptr;
  std::string (*picture)(const model::Profile& profile) = nullptr;  // as SVG
  std::string (*json)(const model::Profile& profile) = nullptr;     // in the place of its rows
  bool of_ops = false;                                              // shows nothing where no ops were recorded
  const char* when_empty = nullptr;                                 // why it may have no rows where all went well
  bool in_all = true;                                               // part of --reports=all
  bool in_simple_mode = false;
  bool of_launches = false;  // shows single launches, which need no timeline, rather than ops

  // "table" "csv" "json" "svg".
  [[nodiscard]] bool has_format(const std::string& format) const { return format != "svg" || picture != nullptr; }
};

// In the order of the guide (chapter 10), which is that of --reports=all; then ours.
[[nodiscard]] std::span<const Report> reports();

// Of one of the names that report_names() gives.
[[nodiscard]] const Report& report_of(const std::string& name);

// Whether it shows launches: for algorithms.
[[nodiscard]] inline bool is_of_launches(const std::string& name) { return report_of(name).of_launches; }

// What was asked for by `names`: DLProf's `all` and `node_op` put into our words, each report once. Throws UsageError for a
// report that there is not, or not in simple mode.
[[nodiscard]] std::vector<std::string> report_names(const std::vector<std::string>& names, bool simple);

// Every name that report_names() takes: for the help and the completion of --reports.
[[nodiscard]] std::vector<std::string> known_names();

// The columns of a report that a terminal shows, the most important first. None for a report that has no such list: all of its
// columns are shown.
[[nodiscard]] std::vector<PeopleColumn> people_columns(std::string_view report);

// The reports as a table in Markdown: that of docs/user/reports.md.
[[nodiscard]] std::string describe_reports();

}  // namespace dlkprof::report
