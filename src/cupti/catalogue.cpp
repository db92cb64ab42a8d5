#include "cupti/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace dlkprof::cupti {
namespace {

using Json = nlohmann::json;

// A JSON object and where it stands ("sections/memory.json, row 3"), so that every complaint names the place.
class Fields {
 public:
  Fields(const Json& object, std::string place, std::initializer_list<std::string_view> known)
      : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) fail("is not an object");
    for (const auto& item : object_.items()) {
      if (std::ranges::find(known, item.key()) == known.end())
        fail(fmt::format("has an unknown field '{}'", printable(item.key(), 64)));
    }
  }

  [[nodiscard]] bool has(const char* field) const { return object_.contains(field); }

  [[nodiscard]] std::string text(const char* field) const {
    if (!has(field) || !object_[field].is_string()) fail(fmt::format("needs '{}', a text", field));
    return object_[field].get<std::string>();
  }

  [[nodiscard]] std::string filled_text(const char* field) const {
    std::string value = text(field);
    if (value.empty()) fail(fmt::format("has an empty '{}'", field));
    return value;
  }

  [[nodiscard]] const Json& list(const char* field) const {
    if (!has(field) || !object_[field].is_array() || object_[field].empty()) {
      fail(fmt::format("needs '{}', a list that is not empty", field));
    }
    return object_[field];
  }

  [[nodiscard]] std::vector<std::string> texts(const char* field) const {
    std::vector<std::string> values;
    for (const Json& value : list(field)) {
      if (!value.is_string() || value.get_ref<const std::string&>().empty())
        fail(fmt::format("has an entry in '{}' that is no text", field));
      values.push_back(value.get<std::string>());
      if (std::ranges::count(values, values.back()) > 1) {
        fail(fmt::format("names '{}' twice in '{}'", printable(values.back(), 200), field));
      }
    }
    return values;
  }

  [[noreturn]] void fail(const std::string& complaint) const {
    throw Error("the metric catalogue cannot be read", fmt::format("{} {}", place_, complaint),
                "Correct the file, or install dlkprof again; metrics/README.md describes its form.");
  }

  [[nodiscard]] const std::string& place() const noexcept { return place_; }

 private:
  const Json& object_;
  std::string place_;
};

Json read_json(const std::filesystem::path& file) {
  try {
    return Json::parse(read_file(file));
  } catch (const Json::exception& error) {
    throw Error("the metric catalogue cannot be read", fmt::format("{}: {}", file.string(), error.what()),
                "Correct the file, or install dlkprof again.");
  }
}

SectionRow read_row(const Json& json, const std::string& place) {
  const Fields fields(json, place, {"label", "unit", "metrics", "computed", "absent", "only"});
  SectionRow row;
  row.label = fields.filled_text("label");
  row.unit = fields.text("unit");
  if (fields.has("metrics") == fields.has("computed")) fields.fail("needs either 'metrics' or 'computed'");
  if (fields.has("absent") && fields.has("only")) fields.fail("has both 'absent' and 'only'");
  if (fields.has("computed")) {
    if (fields.has("absent") || fields.has("only")) fields.fail("is computed, so no chip lacks it");
    row.computed = fields.filled_text("computed");
    return row;
  }
  row.metrics = fields.texts("metrics");
  if (fields.has("absent")) row.absent = fields.texts("absent");
  if (fields.has("only")) row.only = fields.texts("only");
  return row;
}

Section read_section(const std::filesystem::path& file, const std::string& name) {
  const Json json = read_json(file);
  const Fields fields(json, file.string(), {"name", "title", "about", "rows"});
  Section section{fields.text("name"), fields.filled_text("title"), fields.filled_text("about"), {}};
  if (section.name != name) fields.fail(fmt::format("is named '{}' inside", printable(section.name, 64)));
  std::set<std::string> labels;
  for (const Json& row : fields.list("rows")) {
    const std::string place = fmt::format("{}, row {}", fields.place(), section.rows.size() + 1);
    section.rows.push_back(read_row(row, place));
    if (!labels.insert(section.rows.back().label).second)
      fields.fail(fmt::format("has two rows '{}'", section.rows.back().label));
  }
  return section;
}

MetricSet read_set(const Json& json, const std::string& place, const std::vector<std::string>& sections) {
  const Fields fields(json, place, {"name", "about", "sections"});
  MetricSet set{fields.filled_text("name"), fields.filled_text("about"), fields.texts("sections")};
  for (const std::string& section : set.sections) {
    if (std::ranges::find(sections, section) == sections.end()) {
      fields.fail(fmt::format("names a section '{}' that is not listed", printable(section, 64)));
    }
  }
  return set;
}

template <typename Named>
const Named& find_named(const std::vector<Named>& all, const std::string& name, const char* kind) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  std::ranges::transform(all, std::back_inserter(names), &Named::name);
  const std::string near = closest(name, names);
  throw UsageError(fmt::format("there is no {} '{}'{}", kind, printable(name, 64),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                   "", fmt::format("There are {}.", fmt::join(names, ", ")));
}

}  // namespace

Catalogue Catalogue::load(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "sets.json";
  const Json json = read_json(file);
  const Fields fields(json, file.string(), {"sections", "sets"});
  Catalogue catalogue;
  const std::vector<std::string> names = fields.texts("sections");
  for (const std::string& name : names) {
    // The name becomes part of a path.
    if (name.find('/') != std::string::npos) fields.fail(fmt::format("has a section name with '/': '{}'", printable(name, 64)));
    catalogue.sections_.push_back(read_section(folder / "sections" / (name + ".json"), name));
  }
  for (const Json& set : fields.list("sets")) {
    const std::string place = fmt::format("{}, set {}", fields.place(), catalogue.sets_.size() + 1);
    catalogue.sets_.push_back(read_set(set, place, names));
    const std::string& name = catalogue.sets_.back().name;
    if (std::ranges::count(catalogue.sets_, name, &MetricSet::name) > 1)
      fields.fail(fmt::format("has two sets '{}'", printable(name, 64)));
  }
  return catalogue;
}

const Section& Catalogue::section(const std::string& name) const { return find_named(sections_, name, "section"); }

const MetricSet& Catalogue::set(const std::string& name) const { return find_named(sets_, name, "metric set"); }

bool expected_on(const SectionRow& row, const std::string& chip) {
  const auto lists = [&](const std::vector<std::string>& chips) { return std::ranges::find(chips, chip) != chips.end(); };
  return row.only.empty() ? !lists(row.absent) : lists(row.only);
}

bool Catalogue::asks_for(const std::string& metric) const noexcept {
  return std::ranges::any_of(sections_, [&metric](const Section& section) {
    return std::ranges::any_of(
        section.rows, [&metric](const SectionRow& row) { return std::ranges::find(row.metrics, metric) != row.metrics.end(); });
  });
}

std::vector<capture::MetricRequest> requests(const std::vector<Section>& sections) {
  std::vector<capture::MetricRequest> all;
  for (const Section& section : sections) {
    for (const SectionRow& row : section.rows) {
      const capture::MetricRequest request{row.metrics};
      if (!row.metrics.empty() && std::ranges::find(all, request) == all.end()) all.push_back(request);
    }
  }
  return all;
}

}  // namespace dlkprof::cupti
