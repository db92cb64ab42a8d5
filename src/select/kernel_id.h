// How --kernel-id and --kernel-name are cut into fields.
//
//   --kernel-id    context-id:stream-id:[name-operator:]kernel-name:invocation-nr
//   --kernel-name  [name-operator:]kernel-name
//
// The kernel name may itself hold colons (`ns::gemm`, `(?:a|b)`), so the cuts are made from the outside in: the
// first two colons end context-id and stream-id, `regex:` straight after them is the operator, and the last
// colon begins invocation-nr. Those three fields can thus hold no colon. An empty field matches all.
#pragma once

#include <string_view>

namespace dlkprof::select {

// A kernel name as it was asked for: the name itself, or a pattern.
struct NameField {
  std::string_view text;
  bool is_pattern = false;
};

// The fields of a --kernel-id, as views into it.
struct KernelId {
  std::string_view context, stream;
  NameField name;
  std::string_view invocation;
};

// Throws UsageError where colons are missing.
[[nodiscard]] KernelId split_kernel_id(std::string_view value);

[[nodiscard]] NameField split_name(std::string_view value);

}  // namespace dlkprof::select
