#include <map>

#include "base/text.h"
#include "store/database.h"
#include "store/open.h"

namespace dlkprof::store {

void name_launch_calls(const std::filesystem::path& path, model::Timeline& timeline) {
  constexpr const char* kNames =
      "SELECT id, value FROM string WHERE value LIKE '%Launch%' AND length(value) < 256 AND id IN "
      "(SELECT name FROM call)";
  const OpenDatabase opened = open_ours(path, Access::read);
  std::map<std::int64_t, std::uint32_t> known;
  Statement names = opened.connection.prepare(kNames);
  while (names.step()) {
    known.emplace(names.integer(0), static_cast<std::uint32_t>(timeline.strings.size()));
    timeline.strings.push_back(valid_utf8(std::string(names.text(1))));
  }
  Statement calls = opened.connection.prepare("SELECT id, name FROM call");
  while (!known.empty() && calls.step()) {
    const auto name = known.find(calls.integer(1));
    const auto call = static_cast<std::uint64_t>(calls.integer(0));
    if (name != known.end() && call < timeline.calls.size()) timeline.calls[call].name = name->second;
  }
}

}  // namespace dlkprof::store
