// The page: one HTML file with the program that shows it and, where it is to be on its own, the runs inside. Or the same page for
// a server that answers its questions (server.h).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "view/run_copy.h"

namespace dlkprof::view {

// What the page is to stay below: a mail takes it, and a browser opens it in a second.
inline constexpr std::size_t kMostPageBytes = 20'000'000;

// Throws Error where this program was built without the page.
void check_has_page();

using Sink = std::function<void(std::string_view)>;

// The page with these runs inside. Where it would be longer than `most`, the runs leave out events first, then counters launch by
// launch, as their notices in the page say. Throws Error where even that is longer.
void write_page(std::vector<RunCopy>& runs, std::size_t most, const Sink& sink);

// The page of a server.
[[nodiscard]] std::string served_page(const std::vector<RunCopy>& runs);

}  // namespace dlkprof::view
