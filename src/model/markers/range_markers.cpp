#include "model/markers/range_markers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/fold/fold.h"
#include "model/timeline/autotuning.h"
#include "model/timeline/message.h"

namespace dlkprof::model {

class RangeMarkers::Reader {
 public:
  Reader(const Timeline& timeline, RangeMarkers& markers, TextTable& texts)
      : timeline_(timeline), markers_(markers), texts_(texts), first_message_(timeline.strings.size(), kNone) {}

  std::uint32_t message(const Range& range) {
    std::uint32_t& first = first_message_[range.message];
    if (first == kNone || markers_.messages_[first].domain == range.domain) return known_or_parsed(first, range);
    return known_or_parsed(others_.try_emplace(std::uint64_t{range.domain} << 32U | range.message, kNone).first->second, range);
  }

 private:
  std::uint32_t known_or_parsed(std::uint32_t& known, const Range& range) {
    if (known != kNone) return known;
    const std::uint32_t parsed = parse(range);
    // To others than PyTorch the numbers that a message has lost are a part of the name.
    const bool numbered = range.sequence != kNone || range.op_id != kNone;
    if (!numbered || markers_.signatures_[markers_.messages_[parsed].signature].framework == Framework::pytorch) known = parsed;
    return parsed;
  }

  std::uint32_t parse(const Range& range) {
    const Marker marker = parse_marker(timeline_.strings[range.domain], message_of(timeline_, range));
    Message message;
    if (marker.sequence && *marker.sequence >= 0) message.sequence = *marker.sequence;
    message.signature = signature(marker);
    message.domain = range.domain;
    markers_.messages_.push_back(message);
    return static_cast<std::uint32_t>(markers_.messages_.size() - 1);
  }

  std::uint32_t signature(const Marker& marker) {
    const std::uint32_t name = texts_.intern(marker.name.empty() ? "(no name)" : marker.name);
    const std::uint32_t type = texts_.intern(marker.type.empty() ? texts_[name] : marker.type);
    const std::optional<int> rank = key_node_rank(marker);
    const auto [known, is_new] =
        signatures_.try_emplace(std::tuple(name, type, marker.framework, marker.kind, rank), markers_.signatures_.size());
    if (is_new) markers_.signatures_.push_back({marker.framework, marker.kind, name, type, rank});
    return known->second;
  }

  const Timeline& timeline_;
  RangeMarkers& markers_;
  TextTable& texts_;
  std::vector<std::uint32_t> first_message_;                 // of each string: in the domain it was first met in
  std::unordered_map<std::uint64_t, std::uint32_t> others_;  // domain and string: in further domains
  std::map<std::tuple<std::uint32_t, std::uint32_t, Framework, MarkerKind, std::optional<int>>, std::uint32_t> signatures_;
};

namespace {

// As FoldOptions has it.
std::string_view domain_name(std::string_view text) { return text.empty() ? "default" : text; }

// Of each string: whether ranges of the domain that it names count.
std::vector<bool> find_domains(const Timeline& timeline, const std::vector<std::string>& domains) {
  std::vector<bool> count(timeline.strings.size(), domains.empty());
  for (std::size_t i = 0; i < timeline.strings.size() && !domains.empty(); ++i) {
    count[i] = std::find(domains.begin(), domains.end(), domain_name(timeline.strings[i])) != domains.end();
  }
  return count;
}

}  // namespace

std::vector<std::string> domain_names(const Timeline& timeline) {
  std::set<std::string> names;
  std::vector<bool> seen(timeline.strings.size());
  for (const Range& range : timeline.ranges) {
    if (!seen[range.domain]) names.emplace(domain_name(timeline.strings[range.domain]));
    seen[range.domain] = true;
  }
  return {names.begin(), names.end()};
}

RangeMarkers::RangeMarkers(const Timeline& timeline, const std::vector<std::string>& domains, TextTable& texts)
    : ranges_(timeline.ranges) {
  const std::vector<bool> domain_counts = find_domains(timeline, domains);
  const std::vector<bool> autotuning = find_autotuning(timeline);
  Reader reader(timeline, *this, texts);
  message_of_.reserve(timeline.ranges.size());
  for (const Range& range : timeline.ranges) {
    const bool counts = domain_counts[range.domain] && (autotuning.empty() || !autotuning[message_of_.size()]);
    message_of_.push_back(counts ? reader.message(range) : kNone);
  }
}

}  // namespace dlkprof::model
