#include "select/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::select {
namespace {

constexpr std::array<NameBase, 3> kForms{&KernelNames::function, &KernelNames::demangled, &KernelNames::mangled};

// Digits alone that make a number from 1; nothing else is taken for one.
std::optional<std::uint64_t> positive_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

}  // namespace

NameBase parse_name_base(const std::string& word) {
  if (word == "function") return &KernelNames::function;
  if (word == "demangled") return &KernelNames::demangled;
  if (word == "mangled") return &KernelNames::mangled;
  throw UsageError(fmt::format("--kernel-name-base {}", printable(word)), "no such form of a kernel's name",
                   "Use function, demangled or mangled.");
}

NameFilter::NameFilter(std::string_view option, std::string_view value, const NameField& field) {
  if (!field.is_pattern) {
    literal_ = field.text;
    return;
  }
  pattern_.emplace(OptionText{option, value, field.text}, Extent::anywhere);
  says_what_is_not_ = pattern_->matches("");
}

bool NameFilter::matches(const std::string& name) { return pattern_ ? pattern_->matches(name) : name == literal_; }

NameMatch NameFilter::match(const KernelNames& names, NameBase base) {
  if (matches(names.*base)) return NameMatch::yes;
  // `^(?!foo)` matches nearly every other form of every name, which tells the user nothing. What such a pattern
  // has in common is that it matches the empty name too.
  if (says_what_is_not_) return NameMatch::no;
  const auto other_matches = [&](NameBase form) { return form != base && matches(names.*form); };
  return std::ranges::any_of(kForms, other_matches) ? NameMatch::near : NameMatch::no;
}

NumberFilter::NumberFilter(const OptionText& text) {
  if (text.part.empty()) return;
  number_ = positive_number(text.part);
  if (!number_) pattern_.emplace(text, Extent::whole);
}

bool NumberFilter::matches(std::uint64_t number, std::string_view name) {
  if (number_) return number == *number_;
  if (!pattern_) return true;
  std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 1> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  if (pattern_->matches({digits.data(), static_cast<std::size_t>(end - digits.data())})) return true;
  return !name.empty() && pattern_->matches(name);
}

}  // namespace dlkprof::select
