// The values of options as messages point at them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlkprof::select {

// A piece of an option's value, and where it stands in it, so that a message can point at it.
struct OptionText {
  std::string_view option;  // "--kernel-id"
  std::string_view value;   // as the user wrote it
  std::string_view part;    // a view into `value`
};

// `value` and, below it, a caret under the byte `at`. Of a long value only the surroundings are shown.
[[nodiscard]] std::string point_at(std::string_view value, std::size_t at);

}  // namespace dlkprof::select
