// Asks NVPerf for every metric under metrics/ on every chip that it knows; needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cupti/catalogue.h"
#include "cupti/host.h"

namespace dlkprof::cupti::sections_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const Catalogue& catalogue() {
  static const Catalogue loaded = Catalogue::load(DLKPROF_SOURCE_DIR "/metrics");
  return loaded;
}

std::vector<Section> sections_of(const std::string& set) {
  std::vector<Section> sections;
  for (const std::string& name : catalogue().set(set).sections) sections.push_back(catalogue().section(name));
  return sections;
}

std::size_t passes(const Host& host, const std::string& set) {
  return host.plan(host.resolve(requests(sections_of(set))).names).passes;
}

std::optional<std::string> first_offered(const Host& host, const SectionRow& row) {
  const auto name = std::ranges::find_if(row.metrics, [&](const std::string& metric) { return host.offers(metric); });
  return name == row.metrics.end() ? std::nullopt : std::optional(*name);
}

// Our unit for NVPerf's dimension.
std::string unit_for(const std::string& dimension) {
  if (dimension == "percent") return "%";
  if (dimension == "nanosecond") return "ns";
  if (dimension == "byte/second") return "byte/s";
  if (dimension == "instruction") return "inst";
  if (dimension == "instruction/second") return "inst/s";
  if (dimension == "instruction/gpc_cycle") return "inst/cycle";
  if (dimension == "math_op") return "op";
  if (dimension.ends_with("_cycle/second")) return "hz";
  if (dimension.ends_with("_cycle")) return "cycle";
  return dimension;
}

// In a test for all chips, as each process that asks NVPerf anything fills its tables first, which takes longer than one chip.
void on_every_chip(const std::function<void(const std::string&, const Host&)>& test) {
  const std::vector<std::string> chips = Host::chips(Library::open());
  EXPECT_THAT(chips, Not(IsEmpty()));
  for (const std::string& chip : chips) {
    SCOPED_TRACE(chip);
    const Host host = Host::create(Library::open(), chip);
    // One question for all rows is much faster than one a row; what it leaves open is asked row by row.
    (void)host.resolve(requests(catalogue().sections()));
    test(chip, host);
  }
}

// Every row that is measured, with the metric that is taken for it where there is one.
void each_row(const Host& host, const std::function<void(const SectionRow&, const std::optional<std::string>&)>& visit) {
  for (const Section& section : catalogue().sections()) {
    for (const SectionRow& row : section.rows) {
      if (row.metrics.empty()) continue;
      SCOPED_TRACE(section.name + ", " + row.label);
      visit(row, first_offered(host, row));
    }
  }
}

TEST(EveryChip, OffersEveryRowExactlyWhereItSaysSo) {
  on_every_chip([](const std::string& chip, const Host& host) {
    each_row(host, [&chip](const SectionRow& row, const std::optional<std::string>& metric) {
      EXPECT_EQ(metric.has_value(), expected_on(row, chip));
    });
  });
}

TEST(EveryChip, HasTheUnitsOfTheSections) {
  on_every_chip([](const std::string&, const Host& host) {
    each_row(host, [&host](const SectionRow& row, const std::optional<std::string>& metric) {
      // NVPerf gives ratios of two counters the dimension of one of them, or none.
      if (!metric || host.properties(*metric).type == MetricType::ratio) return;
      const std::string unit = unit_for(host.properties(*metric).unit);
      if (!unit.empty() && !row.unit.empty()) {
        EXPECT_EQ(row.unit, unit) << *metric;
      }
    });
  });
}

TEST(EveryChip, HasNoMetricOnItsWayOut) {
  on_every_chip([](const std::string&, const Host& host) {
    each_row(host, [&host](const SectionRow&, const std::optional<std::string>& metric) {
      if (!metric) return;
      EXPECT_THAT(host.properties(*metric).description, Not(HasSubstr("DEPRECATED"))) << *metric;
    });
  });
}

TEST(EveryChip, CollectsEverySet) {
  on_every_chip([](const std::string&, const Host& host) {
    std::map<std::string, std::size_t> cost;
    for (const MetricSet& set : catalogue().sets()) cost[set.name] = passes(host, set.name);
    EXPECT_GT(cost["quick"], 0);
    EXPECT_LE(cost["quick"], 2);
    EXPECT_LE(cost["quick"], cost["basic"]);
    EXPECT_LE(cost["basic"], cost["detailed"]);
    EXPECT_LE(cost["detailed"], cost["full"]);
  });
}

// So dlkprof asks NVPerf of no metric that the catalogue has.
TEST(Sections, AskForNothingThatNoChipHas) {
  std::set<std::string> unknown;
  for (const auto& request : requests(catalogue().sections())) unknown.insert(request.names.begin(), request.names.end());
  for (const std::string& chip : Host::chips(Library::open())) {
    const Host host = Host::create(Library::open(), chip);
    std::erase_if(unknown, [&host](const std::string& metric) { return host.offers(metric); });
  }
  EXPECT_THAT(unknown, IsEmpty());
}

TEST(Sections, KnowTheirChips) {
  const std::vector<std::string> chips = Host::chips(Library::open());
  for (const Section& section : catalogue().sections()) {
    for (const SectionRow& row : section.rows) {
      for (const auto* list : {&row.absent, &row.only}) {
        for (const std::string& chip : *list) EXPECT_THAT(chips, testing::Contains(chip)) << section.name << ", " << row.label;
      }
    }
  }
}

TEST(Sections, AreAllListed) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(DLKPROF_SOURCE_DIR "/metrics/sections")) {
    files.insert(entry.path().stem().string());
  }
  for (const Section& section : catalogue().sections()) files.erase(section.name);
  EXPECT_THAT(files, IsEmpty());
}

// The table of metrics/README.md by its rows: "set" and the chips, a rule, and of each set the passes that it takes on these.
std::vector<std::vector<std::string>> documented_passes() {
  std::vector<std::vector<std::string>> rows;
  for (std::string line : split(read_file(DLKPROF_SOURCE_DIR "/metrics/README.md"), '\n')) {
    if (!line.starts_with(rows.empty() ? "| set | passes on " : "|")) continue;
    std::ranges::replace_if(
        line, [](char c) { return c == '|' || c == '`'; }, ' ');
    std::vector<std::string>& cells = rows.emplace_back();
    for (const std::string& word : split(line, ' ')) {
      if (!word.empty() && word != "passes" && word != "on") cells.push_back(word);
    }
  }
  return rows;
}

// Each pass is a replay of the kernel. CUPTI of another version may take fewer.
TEST(Sections, TakeNoMorePassesThanTheReadmeSays) {
  const auto rows = documented_passes();
  ASSERT_EQ(rows.size(), 2 + catalogue().sets().size()) << "a heading, a rule and a row per set";
  for (std::size_t column = 1; column < rows[0].size(); ++column) {
    const Host host = Host::create(Library::open(), rows[0][column]);
    for (std::size_t row = 2; row < rows.size(); ++row) {
      EXPECT_LE(passes(host, rows[row][0]), std::stoul(rows[row].at(column)))
          << "set " << rows[row][0] << " on " << rows[0][column]
          << ": is the metric worth a pass? Then correct metrics/README.md.";
    }
  }
}

// A counter that is read out of each multiprocessor makes a launch cost 1 ms instead of 50 us, and metrics bring some along that
// their names do not tell: those per active cycle, sm__cycles_active. Where a plan has such a counter already, asking for it as
// well adds nothing.
TEST(Sections, QuickReadsNoMultiprocessorOut) {
  const auto names = [](const Host& host, const std::string& set) { return host.resolve(requests(sections_of(set))).names; };
  const Host host = Host::create(Library::open(), "GH100");
  for (const char* counter : {"sm__cycles_active.avg", "smsp__inst_executed.sum"}) {
    const auto grows = [&](std::vector<std::string> metrics) {
      const std::size_t before = host.plan(metrics).config_image.size();
      metrics.emplace_back(counter);
      return host.plan(metrics).config_image.size() > before;
    };
    EXPECT_TRUE(grows(names(host, "quick"))) << counter;
    EXPECT_FALSE(grows(names(host, "basic"))) << counter << ": the test would not see one";
  }
}

}  // namespace
}  // namespace dlkprof::cupti::sections_test
