#include "view/page.h"

#include <dlkprof/version.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "report/format/markup.h"
#include "store/schema.h"
#include "view/gzip.h"
#include "view/page_asset.h"

namespace dlkprof::view {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTemplateBytes = 16U << 20U;
// Where the built page has room for what only we know (viewer/build.mjs).
constexpr std::string_view kPlaceOfTitle = "<!--dlkprof:title-->";
constexpr std::string_view kPlaceOfData = "<!--dlkprof:data-->";
// What the page may connect to: nothing, or the server that it comes from.
constexpr std::string_view kConnectsToNothing = "connect-src 'none'";
constexpr std::string_view kConnectsToServer = "connect-src 'self'";

std::string unpacked_page() {
  check_has_page();
  return gunzip(packed_page(), kMostTemplateBytes);
}

// What each column of the views means, for the help of tables.
json schema_facts(std::span<const store::View> views) {
  json facts = json::object();
  for (const store::View& view : views) {
    json& columns = facts[view.name]["columns"] = json::array();
    facts[view.name]["meaning"] = view.meaning;
    for (const store::ViewColumn& column : view.columns)
      columns.push_back({column.name, column.unit.value_or(""), column.meaning.value_or("")});
  }
  return facts;
}

// Inside a script element nothing may look like its end, nor like the beginning of another.
std::string script_safe(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char byte : text) byte == '<' ? safe += "\\u003c" : safe += byte;
  return safe;
}

std::string facts_of(const std::vector<RunCopy>& runs, bool is_served) {
  const bool is_job = runs.front().is_job();
  const std::span<const store::View> views = is_job ? std::span(runs.front().views()) : store::views();
  json facts{{"version", DLKPROF_VERSION}, {"served", is_served}, {"views", schema_facts(views)}, {"runs", json::array()}};
  if (is_job) facts["job"] = {{"notices", runs.front().notices()}};
  for (const RunCopy& run : runs) {
    facts["runs"].push_back(
        {{"label", valid_utf8(run.label())}, {"kept", run.kept_iterations()}, {"launches", run.has_launches()}});
    if (run.ops_with_counters()) facts["runs"].back()["opsWithCounters"] = *run.ops_with_counters();
  }
  return script_safe(facts.dump());
}

std::string title_of(const std::vector<RunCopy>& runs) {
  std::string title;
  for (const RunCopy& run : runs) title += (title.empty() ? "" : ", ") + printable(run.label(), 80);
  return report::markup_escaped(title) + " - dlkprof";
}

// The parts of the page before and after the data.
std::pair<std::string, std::string> parts_of(std::string page, const std::vector<RunCopy>& runs) {
  const std::size_t title = page.find(kPlaceOfTitle);
  page.replace(title, kPlaceOfTitle.size(), title_of(runs));
  const std::size_t data = page.find(kPlaceOfData);
  return {page.substr(0, data), page.substr(data + kPlaceOfData.size())};
}

std::string packed(const RunCopy& run) { return base64(gzip(read_file(run.path()))); }

std::size_t length_of(const std::vector<std::string>& texts) {
  return std::accumulate(texts.begin(), texts.end(), std::size_t{0},
                         [](std::size_t all, const auto& one) { return all + one.size(); });
}

// The runs packed, each with as much as there is room for.
std::vector<std::string> packed_runs(std::vector<RunCopy>& runs, std::size_t room) {
  const std::vector<std::function<void(RunCopy&)>> steps{[](RunCopy&) {},
                                                         [](RunCopy& run) { run.keep_three_iterations(); },
                                                         [](RunCopy& run) { run.leave_out_single_iterations(); },
                                                         [](RunCopy& run) { run.leave_out_launches(); },
                                                         [](RunCopy& run) { run.leave_out_counters_of_small_ops(); },
                                                         [](RunCopy& run) { run.leave_out_blocks_of_eight(); }};
  std::vector<std::string> texts(runs.size());
  for (const auto& step : steps) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!texts[i].empty() && (runs[i].is_job() || texts[i].size() <= room / runs.size())) continue;
      step(runs[i]);
      texts[i] = packed(runs[i]);
    }
    if (length_of(texts) <= room) return texts;
  }
  throw Error(fmt::format("the page would be larger than {} MB", kMostPageBytes / 1'000'000), "",
              "Look at it from a server instead: dlkprof view --serve <file>");
}

}  // namespace

void check_has_page() {
  if (!packed_page().empty()) return;
  throw Error("this dlkprof was built without its page", "",
              "Build it with Node.js and npm installed and without -DDLKPROF_PAGE=OFF: ./setup.sh build");
}

void write_page(std::vector<RunCopy>& runs, std::size_t most, const Sink& sink) {
  std::string page = unpacked_page();
  const std::size_t facts_room = 200'000;
  const std::vector<std::string> texts = packed_runs(runs, most - std::min(most, page.size() + facts_room));
  const auto [before, after] = parts_of(std::move(page), runs);
  sink(before);
  sink("<script type=\"application/json\" id=\"facts\">" + facts_of(runs, false) + "</script>\n");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    sink(fmt::format("<script type=\"application/octet-stream\" id=\"run-{}\">", i));
    sink(texts[i]);
    sink("</script>\n");
  }
  sink(after);
}

std::string served_page(const std::vector<RunCopy>& runs) {
  std::string page = unpacked_page();
  page.replace(page.find(kConnectsToNothing), kConnectsToNothing.size(), kConnectsToServer);
  const auto [before, after] = parts_of(std::move(page), runs);
  return before + "<script type=\"application/json\" id=\"facts\">" + facts_of(runs, true) + "</script>\n" + after;
}

}  // namespace dlkprof::view
