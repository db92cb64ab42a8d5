#include "model/fold/call_sites.h"

#include <string_view>

#include "model/markers/marker.h"

namespace dlkprof::model {

CallSites::CallSites(const Timeline& timeline) : timeline_(timeline) {
  constexpr std::string_view kModule = "dlkprof:module: ";
  for (std::uint32_t i = 0; i < timeline.strings.size(); ++i) {
    const std::string_view text = timeline.strings[i];
    if (!text.starts_with(kModule) || text.find(kCallSite) == std::string_view::npos) continue;
    if (Marker marker = parse_marker("", text); !marker.called_at.empty()) of_message_.emplace(i, std::move(marker.called_at));
  }
}

std::string CallSites::stack_of(std::uint32_t range) const {
  std::string stack;
  const std::string* last = nullptr;
  std::size_t sites = 0;
  for (; range != kNone && sites < kMostCallSites; range = timeline_.ranges[range].parent) {
    const auto site = of_message_.find(timeline_.ranges[range].message);
    if (site == of_message_.end() || (last != nullptr && site->second == *last))
      continue;  // one line may call several, as of a Sequential
    if (stack.size() + site->second.size() + 3 > kMostStackText) break;
    stack += (stack.empty() ? "" : " < ") + site->second;
    last = &site->second;
    ++sites;
  }
  return stack;
}

}  // namespace dlkprof::model
