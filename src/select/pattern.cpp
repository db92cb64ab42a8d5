#include "select/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::select {
namespace {

// What one match may cost, in characters looked at and pattern items tried: well under a second, and far more
// than a sound pattern needs for a name of a megabyte.
constexpr std::uint64_t kMaxEffort = 10'000'000;
// What is left to a pattern that has once come to that end: enough for names of the usual length, and little
// enough to ask at every launch.
constexpr std::uint64_t kEffortOfTheUnsound = 10'000;
constexpr std::uint32_t kMaxHeapKib = 64 * 1024;
// Beyond the thread's own stack, which in the program may be small. Pages are taken as they are needed.
constexpr std::size_t kJitStackBytes = std::size_t{32} << 10U;
constexpr std::size_t kMaxJitStackBytes = std::size_t{8} << 20U;

PCRE2_SPTR units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());  // NOLINT(*-reinterpret-cast): PCRE2's type
}

struct Effort {
  std::uint64_t left;
  std::size_t position = 0;
};

// Called at every item of the pattern. PCRE2's own match limit counts anew from each place in the subject, so
// that `[^x]*[xy]` would go over a megabyte a million times; this counts over all of them, and, unlike a clock,
// comes to the same end on every run.
int spend(pcre2_callout_block* block, void* data) {
  auto& effort = *static_cast<Effort*>(data);
  const std::size_t position = block->current_position;
  const std::size_t moved = position > effort.position ? position - effort.position : effort.position - position;
  const std::size_t cost = moved + 1;
  effort.position = position;
  if (cost > effort.left) return PCRE2_ERROR_CALLOUT;
  effort.left -= cost;
  return 0;
}

std::uint32_t compile_options(std::string_view pattern, Extent extent) {
  // Names are bytes. Only a pattern that holds characters beyond ASCII needs them read as UTF-8.
  const bool ascii = std::ranges::all_of(pattern, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const bool utf = !ascii && valid_utf8(pattern) == pattern;
  std::uint32_t options = PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C;
  // NEVER_UTF: `(*UTF)` in a pattern would make names that are not UTF-8 fail the match.
  options |= utf ? PCRE2_UTF | PCRE2_MATCH_INVALID_UTF : PCRE2_NEVER_UTF;
  if (extent == Extent::whole) options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  return options;
}

[[noreturn]] void refuse(const OptionText& text, int error, std::size_t offset) {
  std::array<PCRE2_UCHAR, 256> words{};
  pcre2_get_error_message(error, words.data(), words.size());
  const std::string_view reason(reinterpret_cast<const char*>(words.data()));  // NOLINT(*-reinterpret-cast)
  const auto start = static_cast<std::size_t>(text.part.data() - text.value.data());
  throw UsageError(fmt::format("{} holds a bad regular expression", text.option),
                   fmt::format("{}\n{}", reason, point_at(text.value, start + std::min(offset, text.part.size()))),
                   "Patterns are Perl's (PCRE2). A backslash before a character with a meaning in them, such as ( [ { * + ? | "
                   "or \\, takes it for itself.");
}

}  // namespace

Pattern::Pattern(const OptionText& text, Extent extent) {
  int error = 0;
  std::size_t offset = 0;
  code_.reset(pcre2_compile(units(text.part), text.part.size(), compile_options(text.part, extent), &error, &offset, nullptr));
  if (!code_) refuse(text, error, offset);
  match_data_.reset(pcre2_match_data_create(1, nullptr));
  context_.reset(pcre2_match_context_create(nullptr));
  if (!match_data_ || !context_) throw std::bad_alloc();
  pcre2_set_match_limit(context_.get(), kMaxEffort);
  pcre2_set_heap_limit(context_.get(), kMaxHeapKib);
  // Where memory may not be made executable this fails, and PCRE2 interprets the pattern instead.
  if (pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) != 0) return;
  jit_stack_.reset(pcre2_jit_stack_create(kJitStackBytes, kMaxJitStackBytes, nullptr));
  if (jit_stack_) pcre2_jit_stack_assign(context_.get(), nullptr, jit_stack_.get());
}

bool Pattern::matches(std::string_view subject) {
  Effort effort{.left = limit_exceeded_ ? kEffortOfTheUnsound : kMaxEffort};
  pcre2_set_callout(context_.get(), spend, &effort);
  const int result = pcre2_match(code_.get(), units(subject), subject.size(), 0, 0, match_data_.get(), context_.get());
  // Bad subjects and bad calls being ruled out, any other error is one limit or another.
  if (result < 0 && result != PCRE2_ERROR_NOMATCH) limit_exceeded_ = true;
  return result >= 0;
}

}  // namespace dlkprof::select
