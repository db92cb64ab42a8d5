// The compiled fields of a selector: one asks for a kernel's name, one for a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "select/kernel_id.h"
#include "select/pattern.h"
#include "select/selector.h"

namespace dlkprof::select {

// The form of the name that --kernel-name-base makes decisive.
using NameBase = std::string KernelNames::*;
// function | demangled | mangled; throws UsageError.
[[nodiscard]] NameBase parse_name_base(const std::string& word);

// A kernel name: all of it literally, or a pattern that matches some part of it.
class NameFilter {
 public:
  // `field` is a part of `value`; throws UsageError.
  NameFilter(std::string_view option, std::string_view value, const NameField& field);

  [[nodiscard]] NameMatch match(const KernelNames& names, NameBase base);
  [[nodiscard]] bool matches(const std::string& name);
  [[nodiscard]] bool limit_exceeded() const { return pattern_ && pattern_->limit_exceeded(); }

 private:
  std::string literal_;
  std::optional<Pattern> pattern_;
  bool says_what_is_not_ = false;
};

// A context, a stream or an invocation: all of them, one by its number, or a pattern. A pattern matches the
// whole of the number in decimal (`1|5` is not 15) or the whole of the name given through NVTX, if one was.
class NumberFilter {
 public:
  NumberFilter() = default;  // all
  // Throws UsageError.
  explicit NumberFilter(const OptionText& text);

  [[nodiscard]] bool matches(std::uint64_t number, std::string_view name = {});
  [[nodiscard]] bool matches_all() const { return !number_ && !pattern_; }
  [[nodiscard]] bool is_pattern() const { return pattern_.has_value(); }
  [[nodiscard]] bool limit_exceeded() const { return pattern_ && pattern_->limit_exceeded(); }

 private:
  std::optional<std::uint64_t> number_;
  std::optional<Pattern> pattern_;
};

}  // namespace dlkprof::select
