// What a server can be asked for: each tool with its description and a schema of its arguments, as data.
#pragma once

#include <functional>
#include <string>

#include "cli/mcp/served_runs.h"

namespace dlkprof::cli {

// All tools, as the JSON of "tools".
[[nodiscard]] std::string tools_json();

struct ToolAnswer {
  std::string text;        // for reading
  std::string structured;  // JSON of an object; empty: there is none
  bool is_error = false;
};

// `arguments`: JSON of an object. `stop` is asked while a query runs. Throws std::out_of_range where there is no such tool, and
// store::QueryStopped; what is wrong with the arguments or the run is an answer.
[[nodiscard]] ToolAnswer call_tool(const std::string& name, const std::string& arguments, ServedRuns& runs,
                                   const std::function<bool()>& stop);

// What is longer is cut, with a note.
inline constexpr std::size_t kLongestAnswer = std::size_t{10} << 20U;  // bytes

}  // namespace dlkprof::cli
