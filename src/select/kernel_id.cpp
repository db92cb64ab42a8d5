#include "select/kernel_id.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::select {
namespace {

constexpr std::string_view kRegexOperator = "regex:";
constexpr std::size_t kShownColumns = 160;

[[noreturn]] void too_few_fields(std::string_view value) {
  throw UsageError(fmt::format("--kernel-id {}", printable(value, kShownColumns)), "it has too few fields",
                   "Write context-id:stream-id:[regex:]kernel-name:invocation-nr, where an empty field matches all: "
                   "--kernel-id ::regex:gemm: for kernels with gemm in their name, --kernel-id ::foo:2 for the second "
                   "invocation of foo.");
}

// Takes what stands before the first colon off `rest`, and the colon with it.
std::string_view take_field(std::string_view& rest, std::string_view value) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) too_few_fields(value);
  const std::string_view field = rest.substr(0, colon);
  rest.remove_prefix(colon + 1);
  return field;
}

}  // namespace

NameField split_name(std::string_view value) {
  if (!value.starts_with(kRegexOperator)) return {value, false};
  return {value.substr(kRegexOperator.size()), true};
}

KernelId split_kernel_id(std::string_view value) {
  std::string_view rest = value;
  KernelId id;
  id.context = take_field(rest, value);
  id.stream = take_field(rest, value);
  // The operator goes first: in `::regex:gemm` its colon must not pass for the one before invocation-nr.
  id.name = split_name(rest);
  const std::size_t colon = id.name.text.rfind(':');
  if (colon == std::string_view::npos) too_few_fields(value);
  id.invocation = id.name.text.substr(colon + 1);
  id.name.text = id.name.text.substr(0, colon);
  return id;
}

}  // namespace dlkprof::select
