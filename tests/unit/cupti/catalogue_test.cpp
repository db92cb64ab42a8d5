#include "cupti/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"

namespace dlkprof::cupti::catalogue_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSets = R"({"sections": ["b", "a"], "sets": [{"name": "s", "about": "All.", "sections": ["a", "b"]}]})";
constexpr const char* kA = R"({"name": "a", "title": "A", "about": "About a.", "rows": [
  {"label": "One", "unit": "%", "metrics": ["m1.sum", "m2.sum"], "absent": ["GV100"]},
  {"label": "Two", "unit": "", "computed": "grid_size"}]})";
constexpr const char* kB = R"({"name": "b", "title": "B", "about": "About b.", "rows": [
  {"label": "One", "unit": "%", "metrics": ["m1.sum", "m2.sum"], "only": ["GH100"]},
  {"label": "Three", "unit": "ns", "metrics": ["m3.sum"]}]})";

class CatalogueTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("dlkprof_catalogue_test_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "sections");
    write("sets.json", kSets);
    write("sections/a.json", kA);
    write("sections/b.json", kB);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  // What loading complains of; "" where it does not.
  [[nodiscard]] std::string complaint() const {
    try {
      (void)Catalogue::load(folder_);
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  }
  // The complaint about section a with its one row replaced.
  [[nodiscard]] std::string complaint_about_row(const std::string& row) const {
    write("sections/a.json", R"({"name": "a", "title": "A", "about": "About a.", "rows": [)" + row + "]}");
    return complaint();
  }
  fs::path folder_;
};

TEST_F(CatalogueTest, ReadsSectionsInTheOrderListed) {
  const Catalogue catalogue = Catalogue::load(folder_);
  ASSERT_EQ(catalogue.sections().size(), 2);
  EXPECT_EQ(catalogue.sections()[0].name, "b");
  const Section& section = catalogue.section("a");
  EXPECT_EQ(section.title, "A");
  EXPECT_EQ(section.about, "About a.");
  ASSERT_EQ(section.rows.size(), 2);
  EXPECT_EQ(section.rows[0].label, "One");
  EXPECT_EQ(section.rows[0].unit, "%");
  EXPECT_THAT(section.rows[0].metrics, ElementsAre("m1.sum", "m2.sum"));
  EXPECT_THAT(section.rows[0].absent, ElementsAre("GV100"));
  EXPECT_EQ(section.rows[1].computed, "grid_size");
  EXPECT_THAT(catalogue.set("s").sections, ElementsAre("a", "b"));
}

TEST_F(CatalogueTest, SaysWhichChipsHaveARow) {
  const Catalogue catalogue = Catalogue::load(folder_);
  EXPECT_TRUE(expected_on(catalogue.section("a").rows[0], "GH100"));
  EXPECT_FALSE(expected_on(catalogue.section("a").rows[0], "GV100"));
  EXPECT_TRUE(expected_on(catalogue.section("b").rows[0], "GH100"));
  EXPECT_FALSE(expected_on(catalogue.section("b").rows[0], "GV100"));
  EXPECT_TRUE(expected_on(catalogue.section("b").rows[1], "GV100"));
}

TEST_F(CatalogueTest, AsksForEachMetricOnce) {
  const std::vector<capture::MetricRequest> asked = requests(Catalogue::load(folder_).sections());
  EXPECT_THAT(asked, ElementsAre(capture::MetricRequest{{"m1.sum", "m2.sum"}}, capture::MetricRequest{{"m3.sum"}}));
}

TEST_F(CatalogueTest, SuggestsTheNearestName) {
  const Catalogue catalogue = Catalogue::load(DLKPROF_SOURCE_DIR "/metrics");
  try {
    (void)catalogue.section("memroy");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("'memory'"), HasSubstr("occupancy")));
  }
  try {
    (void)catalogue.set("\x1b[2Jbasics");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("basic"), Not(HasSubstr("\x1b"))));
  }
}

TEST_F(CatalogueTest, NamesTheFileThatIsNoJson) {
  write("sections/b.json", "{\"name\": ");
  EXPECT_THAT(complaint(), HasSubstr("sections/b.json"));
  write("sections/b.json", std::string(100000, '['));
  EXPECT_THAT(complaint(), HasSubstr("sections/b.json"));
  write("sections/b.json", "\"b\"");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("sections/b.json"), HasSubstr("object")));
  fs::remove(folder_ / "sections/b.json");
  EXPECT_THAT(complaint(), HasSubstr("sections/b.json"));
}

TEST_F(CatalogueTest, NamesTheRowAndTheField) {
  EXPECT_THAT(complaint_about_row(R"({"unit": "", "metrics": ["m"]})"), AllOf(HasSubstr("a.json, row 1"), HasSubstr("'label'")));
  EXPECT_THAT(complaint_about_row(R"({"label": "", "unit": "", "metrics": ["m"]})"), HasSubstr("'label'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "metrics": ["m"]})"), HasSubstr("'unit'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": 3, "metrics": ["m"]})"), HasSubstr("'unit'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": []})"), HasSubstr("'metrics'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": "m"})"), HasSubstr("'metrics'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": [3]})"), HasSubstr("'metrics'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": ["m", "m"]})"), HasSubstr("twice"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": ""})"), HasSubstr("'metrics' or 'computed'"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": ["m"], "computed": "c"})"), HasSubstr("either"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": ["m"], "absent": ["X"], "only": ["Y"]})"),
              HasSubstr("both"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "computed": "c", "absent": ["X"]})"), HasSubstr("computed"));
  EXPECT_THAT(complaint_about_row(R"({"label": "L", "unit": "", "metrics": ["m"], "abscent": ["X"]})"), HasSubstr("'abscent'"));
  EXPECT_THAT(complaint_about_row("3"), HasSubstr("row 1"));
  EXPECT_THAT(complaint_about_row(""), HasSubstr("'rows'"));
}

TEST_F(CatalogueTest, KeepsNamesApart) {
  const std::string row = R"({"label": "L", "unit": "", "metrics": ["m"]})";
  EXPECT_THAT(complaint_about_row(row + "," + row), HasSubstr("two rows 'L'"));
  write("sections/a.json", kB);
  EXPECT_THAT(complaint(), HasSubstr("named 'b' inside"));
}

TEST_F(CatalogueTest, ChecksSets) {
  write("sets.json", R"({"sections": ["a"], "sets": [{"name": "s", "about": "x", "sections": ["b"]}]})");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("sets.json, set 1"), HasSubstr("'b'")));
  write("sets.json", R"({"sections": ["a"], "sets": []})");
  EXPECT_THAT(complaint(), HasSubstr("'sets'"));
  write("sets.json", R"({"sections": ["../a"], "sets": []})");
  EXPECT_THAT(complaint(), HasSubstr("'../a'"));
  write("sets.json", R"({"sections": ["a", "b"], "sets": [{"name": "s", "about": "x", "sections": ["b"]},
                                                          {"name": "s", "about": "x", "sections": ["a"]}]})");
  EXPECT_THAT(complaint(), HasSubstr("two sets 's'"));
}

}  // namespace
}  // namespace dlkprof::cupti::catalogue_test
