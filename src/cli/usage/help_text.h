// The help of a command line, for a terminal and as a manual page.
#pragma once

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace dlkprof::cli {

// The verbs, one line each.
[[nodiscard]] std::string verb_list(std::size_t width);

// Usage, what it does, its options by group, and examples; no line is longer than `width` where no word is.
[[nodiscard]] std::string help_text(const CLI::App& app, std::size_t width);

// The same for man(1), in troff's man macros.
[[nodiscard]] std::string manual_page(const CLI::App& app);

}  // namespace dlkprof::cli
