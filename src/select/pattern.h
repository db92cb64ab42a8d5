// A regular expression given on the command line: PCRE2, compiled to machine code where the system allows it.
//
// Patterns are the user's and names are the program's, so neither may take the program down: a name may be
// megabytes of any bytes, and the effort spent on a match is bounded, and bounded tightly once a pattern went to
// the limit. A match given up counts as none, and limit_exceeded() remembers it. Not thread-safe: a match works in memory that
// the Pattern owns.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8  // NOLINT(cppcoreguidelines-macro-usage): pcre2.h asks for it
#include <pcre2.h>

#include <string_view>

#include "base/unique_handle.h"
#include "select/option_text.h"

namespace dlkprof::select {

enum class Extent : bool {
  anywhere,  // the pattern matches some part of the subject
  whole,     // it matches from the subject's first byte to its last
};

class Pattern {
 public:
  // Throws UsageError that shows the option's value and a caret under the place where the pattern goes wrong.
  Pattern(const OptionText& text, Extent extent);

  [[nodiscard]] bool matches(std::string_view subject);
  // Some match was given up because it took too much effort.
  [[nodiscard]] bool limit_exceeded() const { return limit_exceeded_; }

 private:
  UniqueHandle<pcre2_code*, pcre2_code_free> code_;
  UniqueHandle<pcre2_match_data*, pcre2_match_data_free> match_data_;
  UniqueHandle<pcre2_match_context*, pcre2_match_context_free> context_;
  UniqueHandle<pcre2_jit_stack*, pcre2_jit_stack_free> jit_stack_;
  bool limit_exceeded_ = false;
};

}  // namespace dlkprof::select
