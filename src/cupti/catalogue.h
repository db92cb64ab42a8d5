// The sections and sets under metrics/, as data: what is collected, under which label and unit it is shown.
// metrics/README.md describes the files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "capture/options.h"

namespace dlkprof::cupti {

// A row of a section. Either measured (`metrics`, best first: chips name some differently) or computed from launch
// figures alone (`computed`, a name that model/aggregate/computed.h knows).
struct SectionRow {
  std::string label;  // as Nsight Compute shows it
  std::string unit;   // base unit: "byte", "byte/s", "%", "ns", "hz", "" ...
  std::vector<std::string> metrics;
  std::string computed;
  // Chips that offer none of `metrics`, or the only ones that offer any: whichever list is shorter. At most one is given.
  std::vector<std::string> absent, only;
};

struct Section {
  std::string name;   // occupancy
  std::string title;  // Occupancy
  std::string about;  // one sentence
  std::vector<SectionRow> rows;
};

struct MetricSet {
  std::string name;
  std::string about;
  std::vector<std::string> sections;
};

class Catalogue {
 public:
  // Reads <folder>/sets.json and the <folder>/sections/<name>.json that it lists; throws Error naming file, row and field.
  [[nodiscard]] static Catalogue load(const std::filesystem::path& folder);

  [[nodiscard]] const std::vector<Section>& sections() const noexcept { return sections_; }
  [[nodiscard]] const std::vector<MetricSet>& sets() const noexcept { return sets_; }
  // Throw UsageError with the closest name.
  [[nodiscard]] const Section& section(const std::string& name) const;
  [[nodiscard]] const MetricSet& set(const std::string& name) const;
  // Whether a row asks for it: then some chip has it.
  [[nodiscard]] bool asks_for(const std::string& metric) const noexcept;

 private:
  std::vector<Section> sections_;  // in the order in which they are shown
  std::vector<MetricSet> sets_;
};

// Whether `chip` offers what the row shows, as far as the row says.
[[nodiscard]] bool expected_on(const SectionRow& row, const std::string& chip);

// What to ask the chip for, to fill these sections; without repetition.
[[nodiscard]] std::vector<capture::MetricRequest> requests(const std::vector<Section>& sections);

}  // namespace dlkprof::cupti
