#include "select/nvtx_filter.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace dlkprof::select {
namespace {

// Which numbers of ranges, from the outermost, the items so far may take up.
using Reached = std::vector<bool>;

// From anything reached to all that lies further in.
void reach_inwards(Reached& reached) {
  const auto first = std::ranges::find(reached, true);
  std::fill(first, reached.end(), true);
}

bool same_letter(char a, char b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b);
}

}  // namespace

NvtxFilter::Name::Name(const NvtxName& name, std::string_view option) {
  if (name.is_pattern) {
    pattern_.emplace(OptionText{option, name.text, name.text}, Extent::anywhere);
  } else {
    literal_ = name.text;
  }
}

bool NvtxFilter::Name::matches(std::string_view name) { return pattern_ ? pattern_->matches(name) : name == literal_; }

bool NvtxFilter::Name::is_near(std::string_view name) {
  return matches(name) || (!pattern_ && !std::ranges::search(name, literal_, same_letter).empty());
}

NvtxFilter::Expression::Expression(std::string_view option, const std::string& value) {
  const NvtxExpression parsed = parse_nvtx(option, value);
  push_pop = parsed.push_pop;
  from_bottom = parsed.from_bottom;
  to_top = parsed.to_top;
  if (parsed.domain) domain.emplace(*parsed.domain, option);
  for (const NvtxItem& item : parsed.items) {
    items.push_back({.kind = item.kind, .name = std::nullopt});
    if (item.kind == NvtxItem::Kind::name) items.back().name.emplace(item.name, option);
  }
}

bool NvtxFilter::Expression::matches(const OpenNvtxRanges& open) {
  if (!(domain ? domain->matches(open.domain) : open.domain.empty())) return false;
  return push_pop ? matches_pushed(open.pushed) : matches_started(open.started);
}

bool NvtxFilter::Expression::matches_started(std::span<const std::string_view> started) {
  return std::ranges::all_of(items, [&](Item& item) {
    return std::ranges::any_of(started, [&](std::string_view name) { return item.name->matches(name); });
  });
}

bool NvtxFilter::Expression::matches_pushed(std::span<const std::string_view> pushed) {
  Reached reached(pushed.size() + 1, !from_bottom);
  reached[0] = true;
  for (Item& item : items) {
    if (item.kind == NvtxItem::Kind::any) {
      reach_inwards(reached);
      continue;
    }
    for (std::size_t i = pushed.size(); i > 0; --i) {
      reached[i] = reached[i - 1] && (item.kind == NvtxItem::Kind::one || item.name->matches(pushed[i - 1]));
    }
    reached[0] = false;
  }
  return to_top ? reached.back() : std::ranges::find(reached, true) != reached.end();
}

NvtxFilter::NvtxFilter(const capture::Selection& selection) {
  for (const auto& value : selection.nvtx_include) include_.emplace_back("--nvtx-include", value);
  for (const auto& value : selection.nvtx_exclude) exclude_.emplace_back("--nvtx-exclude", value);
}

bool NvtxFilter::any_matches(std::vector<Expression>& expressions, std::span<const OpenNvtxRanges> open) {
  return std::ranges::any_of(expressions, [&](Expression& expression) {
    return std::ranges::any_of(open, [&](const OpenNvtxRanges& ranges) { return expression.matches(ranges); });
  });
}

bool NvtxFilter::takes(std::span<const OpenNvtxRanges> open) {
  return (include_.empty() || any_matches(include_, open)) && !any_matches(exclude_, open);
}

bool NvtxFilter::is_near(std::string_view name) {
  return std::ranges::any_of(include_, [&](Expression& expression) {
    return std::ranges::any_of(expression.items, [&](Item& item) { return item.name && item.name->is_near(name); });
  });
}

bool NvtxFilter::limit_exceeded() const {
  const auto exceeded = [](const Expression& expression) {
    const auto of = [](const std::optional<Name>& name) { return name && name->limit_exceeded(); };
    return of(expression.domain) || std::ranges::any_of(expression.items, [&](const Item& item) { return of(item.name); });
  };
  return std::ranges::any_of(include_, exceeded) || std::ranges::any_of(exclude_, exceeded);
}

}  // namespace dlkprof::select
