// A file that is written piece by piece.
#pragma once

#include <filesystem>
#include <functional>

#include "report/format/rows.h"

namespace dlkprof::cli {

// Gives `produce` a sink into a new private file under a temporary name beside `path`, then moves it there: never half a file.
// With `replace` false an existing `path` is refused. Throws Error.
void write_pieces(const std::filesystem::path& path, bool replace, const std::function<void(const report::Sink&)>& produce);

}  // namespace dlkprof::cli
